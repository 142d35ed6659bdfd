// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules; the reasons stand in docs/decisions/0001-package.md.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// A Swift target of ours: no target may see what is not named here.
func target(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// The tests of a target, which may also name the test support they use.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
  name: "take5",
  products: [.executable(name: "take5", targets: ["take5"])],
  targets: [
    // C libraries from Debian: module maps and shims, no logic.
    .systemLibrary(name: "CFFmpeg", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev"])]),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),

    // Compiled C: what Swift cannot say.
    .target(name: "CSystem", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
    .target(name: "CKernels"),

    // Wrappers and mechanisms. A target imports only what stands above it.
    target("Platform", ["CSystem"]),
    target("Crypto", ["CCrypto", "Platform"]),
    target("AV", ["CFFmpeg", "Platform"]),
    target("Kernels", ["CKernels"]),
    target("Stills", ["CJPEG"]),
    target("Postgres", ["CPostgres", "Platform"]),
    target("EmbeddedPostgres", ["Postgres", "Platform"]),
    target("HTTPServer", ["CMicrohttpd", "Platform"]),
    target("ISOBaseMedia", []),
    target("HTTPClient", ["Platform"]),
    target("Logging", []),

    // The domain, and the media work that knows neither database nor HTTP.
    target("Model", []),
    target("Media", ["AV", "ISOBaseMedia", "Kernels", "Model", "Stills", "Platform"]),
    target("MediaProcess", ["Media", "Model", "Platform"]),

    // The service.
    target(
      "Queue", ["Model", "Postgres"],
      resources: [.embedInCode("SQL/Queue.sql"), .embedInCode("SQL/v0001_queue.sql")]),
    target("Blobs", ["Crypto", "Model", "Platform"]),
    target(
      "Store", ["Blobs", "Crypto", "Model", "Platform", "Postgres", "Queue"],
      resources: [.embedInCode("SQL/Store.sql"), .embedInCode("SQL/v0100_store.sql")]),
    .target(
      name: "Definitions", dependencies: ["Model"], path: "jobs", sources: ["Definitions.swift"],
      resources: [.embedInCode("take5-post.json")], swiftSettings: settings),
    target(
      "Worker", ["Blobs", "Crypto", "Logging", "MediaProcess", "Model", "Postgres", "Queue", "Store", "Platform"]),
    target(
      "ControlAPI",
      ["Blobs", "Crypto", "HTTPServer", "ISOBaseMedia", "Model", "Platform", "Postgres", "Queue", "Store"]),
    .executableTarget(
      name: "take5",
      dependencies: [
        "Blobs", "ControlAPI", "Definitions", "Crypto", "EmbeddedPostgres", "HTTPClient", "HTTPServer", "Logging",
        "MediaProcess", "Model", "Postgres",
        "Queue", "Store", "Platform", "Worker",
      ],
      swiftSettings: settings),

    // Test support: not part of any product.
    .target(
      name: "HTTPTesting", dependencies: ["HTTPServer", "Platform"], path: "Tests/Support/HTTPTesting",
      swiftSettings: settings),
    .target(name: "BoxTesting", path: "Tests/Support/BoxTesting", swiftSettings: settings),
    .target(
      name: "PostgresTesting", dependencies: ["EmbeddedPostgres", "Platform", "Postgres"],
      path: "Tests/Support/PostgresTesting", swiftSettings: settings),
    .executableTarget(
      name: "PostgresOwner", dependencies: ["EmbeddedPostgres", "Postgres"], path: "Tests/Support/PostgresOwner",
      swiftSettings: settings),
    .target(
      name: "Take5Testing", dependencies: ["HTTPClient", "Platform"], path: "Tests/Support/Take5Testing",
      swiftSettings: settings),

    // Tests mirror Sources folder by folder.
    tests("BlobsTests", ["Blobs", "Crypto", "Platform", "PostgresTesting"]),
    tests("CryptoTests", ["Crypto", "Platform"]),
    tests("EmbeddedPostgresTests", ["EmbeddedPostgres", "Platform", "Postgres", "PostgresOwner", "PostgresTesting"]),
    tests("QueueTests", ["Model", "Postgres", "PostgresTesting", "Queue"]),
    tests("PostgresTests", ["Platform", "Postgres", "PostgresTesting"]),
    tests(
      "StoreTests",
      ["Blobs", "Crypto", "Definitions", "Model", "Platform", "Postgres", "PostgresTesting", "Queue", "Store"]),
    tests("ModelTests", ["Definitions", "Model"]),
    // Pictures and sound by formula: what makes the samples, and what the benchmarks measure with. Not shipped.
    target("SyntheticMedia", ["AV", "Kernels", "Platform"]),
    .executableTarget(
      name: "make-samples", dependencies: ["AV", "Kernels", "SyntheticMedia"], swiftSettings: settings),
    .executableTarget(
      name: "bench", dependencies: ["AV", "Definitions", "Kernels", "Model", "Platform", "SyntheticMedia"],
      swiftSettings: settings),

    .target(
      name: "MediaFixtures", dependencies: ["AV", "Kernels", "Model", "Platform", "Stills"],
      path: "Tests/Support/MediaFixtures",
      swiftSettings: settings),
    tests("AVTests", ["AV", "MediaFixtures", "Platform"]),
    tests("MediaTests", ["AV", "Definitions", "Kernels", "Media", "MediaFixtures", "Model", "Platform", "Stills"]),
    tests("KernelsTests", ["Kernels"]),
    tests("StillsTests", ["Stills"]),
    tests("SyntheticMediaTests", ["AV", "Kernels", "Platform", "SyntheticMedia"]),
    tests("HTTPServerTests", ["HTTPServer", "HTTPTesting", "Platform"]),
    tests("ISOBaseMediaTests", ["BoxTesting", "ISOBaseMedia", "Platform"]),
    tests(
      "ControlAPITests",
      [
        "Blobs", "BoxTesting", "ControlAPI", "Crypto", "Definitions", "HTTPServer", "HTTPTesting", "Model", "Platform",
        "Postgres", "PostgresTesting", "Queue", "Store",
      ]),
    tests(
      "EndToEndTests",
      [
        "AV", "Definitions", "HTTPClient", "MediaFixtures", "Model", "Platform", "Postgres", "PostgresTesting",
        "Take5Testing", "take5",
      ]),
  ]
)
