// swift-tools-version: 6.1

import PackageDescription

/// The C targets include headers by target and folder, as in `"CPeriluneRows/Values/dates.h"`, so that each include shows which part
/// depends on which. SQLite declares its session and pre-update interfaces only if two macros are defined.
let roomSettings: [CSetting] = [.headerSearchPath("..")]
let sqliteSettings: [CSetting] =
    roomSettings + [
        .define("SQLITE_ENABLE_SESSION"),
        .define("SQLITE_ENABLE_PREUPDATE_HOOK"),
    ]

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// `scripts/test` optimizes the tested targets but not the tests, which run only once. This saves minutes.
let testSettings: [SwiftSetting] = swiftSettings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

let package = Package(
    name: "Perilune",
    products: [
        .library(name: "PeriluneLua", targets: ["PeriluneLua"]),
        .library(name: "Perilune", targets: ["Perilune"]),
        .library(name: "PeriluneCluster", targets: ["PeriluneCluster"]),
        .library(name: "PeriluneScenarios", targets: ["PeriluneScenarios"]),
        .library(name: "PeriluneTestSupport", targets: ["PeriluneTestSupport"]),
        .executable(name: "perilune", targets: ["PeriluneCLI"]),
        .executable(name: "perilune-worker", targets: ["perilune-worker"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.1"),
    ],
    targets: [
        // Lua, as a library for any Swift program.
        .systemLibrary(
            name: "CPeriluneLua", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),
        .target(name: "CPeriluneShim", dependencies: ["CPeriluneLua"], cSettings: roomSettings),
        .target(
            name: "PeriluneLua", dependencies: ["CPeriluneShim"], swiftSettings: swiftSettings),

        // Dependencies of scripts and programs in the live, test and preview contexts.
        .target(
            name: "PeriluneDependencies",
            dependencies: [
                .product(name: "IssueReporting", package: "xctest-dynamic-overlay"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings),

        // The database, and its bindings to Lua.
        .target(
            name: "CPeriluneSQLite",
            dependencies: [.product(name: "GRDBSQLite", package: "GRDB.swift")],
            cSettings: sqliteSettings),
        .target(
            name: "CPeriluneRows",
            dependencies: [
                "CPeriluneShim", "CPeriluneSQLite", .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            cSettings: sqliteSettings),
        .target(
            name: "CPeriluneRecords",
            dependencies: [
                "CPeriluneRows", "CPeriluneShim", "CPeriluneSQLite", .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            cSettings: sqliteSettings),
        .target(
            name: "PeriluneRecords",
            dependencies: [.product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift")],
            swiftSettings: swiftSettings),
        // lib/perilune, lib/scenarios, lib/reference and lib/console, as text and as bytecode that the build compiles.
        .executableTarget(
            name: "perilune-module-compiler", dependencies: ["CPeriluneLua"], path: "Sources/PeriluneModuleCompiler"),
        .plugin(
            name: "EmbedModules", capability: .buildTool, dependencies: ["perilune-module-compiler"], path: "Sources/EmbedModules"
        ),
        .target(name: "PeriluneModules", swiftSettings: swiftSettings),
        .target(
            name: "PeriluneLibrary", dependencies: ["PeriluneModules"], swiftSettings: swiftSettings, plugins: ["EmbedModules"]),
        .target(
            name: "PeriluneScenarioLibrary", dependencies: ["PeriluneModules"], swiftSettings: swiftSettings,
            plugins: ["EmbedModules"]),
        .target(
            name: "PeriluneReferenceLibrary", dependencies: ["PeriluneModules"], swiftSettings: swiftSettings,
            plugins: ["EmbedModules"]),
        .target(
            name: "PeriluneConsoleLibrary", dependencies: ["PeriluneModules"], swiftSettings: swiftSettings,
            plugins: ["EmbedModules"]),
        .target(
            name: "PeriluneBindings",
            dependencies: [
                "CPeriluneRecords", "CPeriluneRows", "CPeriluneSQLite", "PeriluneDependencies", "PeriluneLua", "PeriluneRecords",
                "PeriluneLibrary", "PeriluneModules",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings),
        // A separate process for untrusted scripts: messages, processes, and the restrictions that Linux offers.
        .target(name: "CPeriluneIsolation"),
        .target(name: "PeriluneIsolation", dependencies: ["CPeriluneIsolation"], swiftSettings: swiftSettings),
        .target(
            name: "Perilune",
            dependencies: [
                "CPeriluneRows", "CPeriluneSQLite", "PeriluneBindings", "PeriluneDependencies", "PeriluneIsolation",
                "PeriluneRecords",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),

        // Databases in clusters, for programs that want them: the protocol, and a local stand-in.
        .target(
            name: "CPeriluneCluster", dependencies: [.product(name: "GRDBSQLite", package: "GRDB.swift")], cSettings: roomSettings
        ),
        .target(
            name: "PeriluneCluster",
            dependencies: [
                "CPeriluneCluster", "PeriluneDependencies", "PeriluneRecords", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),

        .target(
            name: "PeriluneTestSupport",
            dependencies: [
                "Perilune", "PeriluneDependencies", "PeriluneLua", "PeriluneScenarios",
                // Loaded by name when a test reports an issue. Without it, issues are only printed.
                .product(name: "IssueReportingTestSupport", package: "xctest-dynamic-overlay"),
            ],
            swiftSettings: swiftSettings),

        // Test scenarios in Lua, and their runner.
        .target(
            name: "PeriluneScenarios",
            dependencies: [
                "CPeriluneRows", "CPeriluneSQLite", "PeriluneModules", "PeriluneReferenceLibrary", "PeriluneScenarioLibrary",
                "Perilune", "PeriluneBindings",
                "PeriluneDependencies", "PeriluneIsolation", "PeriluneLua", "PeriluneRecords",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings),

        // Programs.
        .target(
            name: "PeriluneTOML", dependencies: [.product(name: "TOMLKit", package: "TOMLKit")], swiftSettings: swiftSettings),
        .executableTarget(
            name: "perilune-worker", dependencies: ["Perilune"], path: "Sources/PeriluneWorker", swiftSettings: swiftSettings),
        .executableTarget(
            name: "PeriluneCLI",
            dependencies: [
                "CPeriluneSQLite", "Perilune", "PeriluneBindings", "PeriluneCluster", "PeriluneConsoleLibrary",
                "PeriluneDependencies", "PeriluneIsolation", "PeriluneLua",
                "PeriluneModules", "PeriluneRecords", "PeriluneScenarios", "PeriluneTOML",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "CPeriluneBenchmarks",
            dependencies: [
                "CPeriluneLua", .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .executableTarget(
            name: "PeriluneBenchmarks",
            dependencies: [
                "CPeriluneBenchmarks", "Perilune", "PeriluneDependencies", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),

        // Code shared by tests of several targets: waiting for conditions instead of a fixed time, and a library that they load.
        .target(
            name: "PeriluneTestTools", dependencies: ["PeriluneIsolation"], path: "Tests/PeriluneTestTools",
            exclude: ["NativeLibrary/extension.c"], swiftSettings: swiftSettings),
        // Runs tests that are written in Lua.
        .target(
            name: "PeriluneLuaFileTools", dependencies: ["Perilune", "PeriluneBindings", "PeriluneDependencies"],
            path: "Tests/PeriluneLuaFileTools", swiftSettings: swiftSettings),
        .testTarget(
            name: "PeriluneLuaTests", dependencies: ["CPeriluneShim", "PeriluneLua", "PeriluneTestTools"],
            swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneDependenciesTests",
            dependencies: [
                "PeriluneDependencies", "PeriluneTestTools",
                .product(name: "IssueReportingTestSupport", package: "xctest-dynamic-overlay"),
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneRecordsTests", dependencies: ["PeriluneRecords"],
            swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneBindingsTests",
            dependencies: [
                "CPeriluneLua", "CPeriluneRecords", "Perilune", "PeriluneBindings", "PeriluneDependencies",
                "PeriluneLuaFileTools", "PeriluneScenarios",
                "PeriluneTestTools",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Lua", "Chinook", "Reference/api.lua", "Reference/function_names.lua"], swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneClusterTests",
            dependencies: [
                "CPeriluneCluster", "Perilune", "PeriluneCluster", "PeriluneDependencies", "PeriluneLua", "PeriluneRecords",
                "PeriluneScenarios", "PeriluneTestTools",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            exclude: ["Lua"], swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneTests",
            dependencies: [
                "perilune-isolation-probe", "perilune-worker", "Perilune", "PeriluneDependencies", "PeriluneIsolation",
                "PeriluneLua",
                "PeriluneTestSupport", "PeriluneTestTools",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Documentation/prose_marks.txt"], swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneScenariosTests",
            dependencies: [
                "Perilune", "PeriluneBindings", "PeriluneLua", "PeriluneLuaFileTools", "PeriluneScenarios", "PeriluneTestSupport",
                "PeriluneTestTools",
            ],
            exclude: ["Lua", "Reports/junit.xsd", "Reports/junit_extended.xsd"], swiftSettings: testSettings),
        // Applies the layers of isolation, and tries to break out of them.
        .executableTarget(
            name: "perilune-isolation-probe", dependencies: ["PeriluneIsolation"], path: "Tests/PeriluneIsolationProbe",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PeriluneIsolationTests", dependencies: ["perilune-isolation-probe", "PeriluneIsolation", "PeriluneTestTools"],
            swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneTestSupportTests", dependencies: ["PeriluneTestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "PeriluneCLITests", dependencies: ["PeriluneCLI", "PeriluneDependencies", "PeriluneTestTools"],
            swiftSettings: testSettings),
    ],
    swiftLanguageModes: [.v6]
)
