internal import PeriluneIsolation

/// An examination of the isolation features that the system offers for untrusted scripts.
enum IsolationExamination {
    static func findings() -> [Finding] {
        let (available, missing) = (
            IsolationLayer.allCases.filter(\.isAvailable), IsolationLayer.allCases.filter { !$0.isAvailable }
        )
        var findings = [
            Finding(verdict: .ok, text: "isolation of --sandbox: \(available.map(\.description).joined(separator: ", "))")
        ]
        for layer in missing {
            findings.append(
                Finding(
                    verdict: .warning,
                    text: "the system has no \(layer), which keeps sandboxed scripts from \(purpose(of: layer))",
                    cure: "use a kernel, or a container, that has it"))
        }
        return findings
    }

    private static func purpose(of layer: IsolationLayer) -> String {
        layer == .landlock ? "files of others" : "programs and networks"
    }
}
