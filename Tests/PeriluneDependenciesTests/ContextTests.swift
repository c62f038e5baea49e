@testable import PeriluneDependencies
import Testing

@Suite struct ContextTests {
    @Test func `under a test runner, the context is test`() throws {
        try #expect(Dependencies.current.context == .test)
    }

    @Test func `the environment variable takes precedence over the test runner, which takes precedence over live`() throws {
        let name = DependencyContext.environmentVariable
        #expect(name == "PERILUNE_CONTEXT")
        try #expect(DependencyContext.detect(environment: [:], isTesting: false) == .live)
        try #expect(DependencyContext.detect(environment: [:], isTesting: true) == .test)
        for context in DependencyContext.allCases {
            for isTesting in [false, true] {
                let found = try DependencyContext.detect(environment: [name: context.rawValue], isTesting: isTesting)
                #expect(found == context)
            }
        }
        try #expect(DependencyContext.detect(environment: [name: ""], isTesting: false) == .live)
    }

    @Test func `an undeterminable context is an error with the variable and its values`() async throws {
        let error = #expect(throws: DependencyError.self) {
            try DependencyContext.detect(environment: ["PERILUNE_CONTEXT": "Live"], isTesting: false)
        }
        #expect(error?.code == .unknownContext)
        #expect(error?.message == "the environment variable PERILUNE_CONTEXT is \"Live\"; set it to one of live, test, preview")
        // Every access throws it.
        let container = Dependencies(.process { .notRunByTests }, context: .failure(error!))
        try await container.run {
            await #expect(throws: DependencyError.self) { try await Dependencies.value(for: DateKey.self) }
            await #expect(throws: DependencyError.self) { try await Dependencies.prepare { $0.resource = .named("a") } }
            // A given context need not be determined.
            try await Dependencies.with(context: .live) {
                try #expect(Dependencies.current.context == .live)
            }
        }
    }
}
