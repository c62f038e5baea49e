@testable import PeriluneDependencies
import Testing

@Suite struct ContextTests {
    @Test func `under a test runner, the context is test`() throws {
        try #expect(DependencyContainer.current.context == .test)
    }

    @Test func `the environment variable takes precedence over the test runner, which takes precedence over live`() throws {
        let name = DependencyContainer.Context.environmentVariable
        #expect(name == "PERILUNE_CONTEXT")
        try #expect(DependencyContainer.Context.detect(environment: [:], isTesting: false) == .live)
        try #expect(DependencyContainer.Context.detect(environment: [:], isTesting: true) == .test)
        for context in DependencyContainer.Context.allCases {
            for isTesting in [false, true] {
                let found = try DependencyContainer.Context.detect(environment: [name: context.rawValue], isTesting: isTesting)
                #expect(found == context)
            }
        }
        try #expect(DependencyContainer.Context.detect(environment: [name: ""], isTesting: false) == .live)
    }

    @Test func `if the context cannot be determined, the error names the variable and its values`() async throws {
        let error = #expect(throws: DependencyError.self) {
            try DependencyContainer.Context.detect(environment: ["PERILUNE_CONTEXT": "Live"], isTesting: false)
        }
        #expect(error?.code == .unknownContext)
        #expect(error?.message == "the environment variable PERILUNE_CONTEXT is \"Live\"; set it to one of live, test, preview")
        // Every access throws the error.
        let container = DependencyContainer(.process { .notRunByTests }, context: .failure(error!))
        try await container.with {
            await #expect(throws: DependencyError.self) { try await DependencyContainer.date }
            await #expect(throws: DependencyError.self) { try await DependencyContainer.prepare { $0.resource = .named("a") } }
            // An explicit context needs no environment.
            try await DependencyContainer.with(context: .live) {
                try #expect(DependencyContainer.current.context == .live)
            }
        }
    }
}
