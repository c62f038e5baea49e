import PeriluneTestSupport
import Testing

/// This test target links only `PeriluneTestSupport`, like the tests of an app.
@Suite struct UngivenDependencyTests {
    @Test func `a test that uses a database without preparing it fails, and the issue names the database`() async throws {
        try await withKnownIssue {
            let count: Int = try await DependencyContainer.withTestScope {
                try await ScriptHost().run(source: "return db:fetch_value('SELECT COUNT(*) FROM sqlite_schema')")
            }
            #expect(count == 0)
        } matching: { issue in
            "\(issue)".contains("the dependency defaultDatabase is used, but not provided")
        }
    }
}
