// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The version of take5 (semver.org), which nothing else repeats: the programs, the package and the test of CHANGELOG.md read
/// it from here. The variable is for a test of an upgrade, which builds the version after this one.
let version = Context.environment["TAKE5_VERSION"] ?? "0.1.0"

/// Every Swift target is held to the same rules; the reasons stand in docs/decisions/0001-package.md.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// What computes nothing is compiled without optimisation, in a fifth of the time: the command line, tests and what they share.
let unoptimised = settings + [.unsafeFlags(["-Onone"])]

/// The targets that are built, with what they depend on; nil: the whole package.
let named = Context.environment["TAKE5_TARGETS"]?.split(separator: " ").map(String.init)

/// The targets that builds for developers, tests and fuzzers do not optimise, because they compute little and are long to compile: values,
/// requests, statements, and what waits for others. What is installed and measured is optimised.
let spared: Set =
  Context.environment["TAKE5_QUICK"] == "1"
  ? [
    "Blobs", "Rooms", "Crypto", "EmbeddedPostgres", "HTTPClient", "Integrity", "Kit", "MediaProcess", "Model",
    "Queue", "Store", "Telemetry", "Worker",
  ] : []

/// A Swift target of ours: no target may see what is not named here. Its SQL files belong to another target, `sql`.
func target(_ name: String, dependencies: Target.Dependency...) -> Target {
  let files = sqlFiles(in: "Sources/\(name)")
  return .target(
    name: name, dependencies: dependencies,
    exclude: files.isEmpty ? [] : ["SQL"] + files.filter { !$0.hasPrefix("SQL/") },
    swiftSettings: spared.contains(name) ? unoptimised : settings)
}

/// The SQL files of a Swift target as data of C, which the file in its folder `SQL` names.
func sql(_ name: String) -> Target {
  let folder = "Sources/\(name)/SQL"
  return .target(name: "C\(name)SQL", dependencies: ["CSystem"], path: folder, exclude: sqlFiles(in: folder))
}

/// The SQL files in a folder and its folders.
func sqlFiles(in folder: String) -> [String] {
  let files = FileManager.default.enumerator(atPath: "\(Context.packageDirectory)/\(folder)")
  return files?.compactMap { $0 as? String }.filter { $0.hasSuffix(".sql") }.sorted() ?? []
}

/// A program of ours. The linker leaves the functions of libraries that it opens to the dynamic linker, which binds them
/// at their first call; a test finds a function that no library has.
func program(_ name: String, dependencies: Target.Dependency..., settings: [SwiftSetting] = settings) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, swiftSettings: settings,
    linkerSettings: [
      // GNU ld resolves such a function to 0 for some calls; lld binds each by the dynamic linker.
      .unsafeFlags([
        "-use-ld=lld", "-Xlinker", "--unresolved-symbols=ignore-all", "-Xlinker", "-z", "-Xlinker", "lazy",
        // A list of addresses that each process reads at its start has a hundredth of the length.
        "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
      ])
    ])
}

/// A program of the benchmark, which is optimised where it measures, not where it is tested.
func benchmark(_ name: String, dependencies: Target.Dependency..., resources: [Resource] = []) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Benchmarks/\(name)", resources: resources,
    swiftSettings: named == nil ? settings : unoptimised)
}

/// What several test targets share. What computes pixels is optimised.
func support(_ name: String, dependencies: Target.Dependency..., optimised: Bool = false) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/\(name)",
    swiftSettings: optimised ? settings : unoptimised)
}

/// The tests of a target, which may also name the test support they use. The program of all tests is linked with the libraries that
/// take5 opens. No target waits for their module, which is emitted with their code instead of by a compilation of its own.
func tests(
  _ name: String, dependencies: Target.Dependency..., exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["CLinkedLibraries"], exclude: exclude, resources: resources,
    swiftSettings: unoptimised + [.unsafeFlags(["-no-emit-module-separately-wmo"])])
}

let package = Package(
  name: "take5",
  // For apps that depend on Take5Client; the service runs on Linux.
  platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9)],
  products: [
    .executable(name: "take5", targets: ["take5"]),
    .executable(name: "take5-media", targets: ["take5-media"]),
    // For apps.
    .library(name: "Take5Client", targets: ["Take5Client"]),
    // For a test that sets a process's clock wrong. Not shipped.
    .library(name: "ClockSkew", type: .dynamic, targets: ["CClockSkew"]),
  ],
  targets: [
    // C libraries from Debian that not every process needs: opened at their first use (Sources/Platform).
    .systemLibrary(name: "CArchive"),
    .systemLibrary(name: "CArgon2"),
    .systemLibrary(name: "CCrypto"),
    .systemLibrary(name: "CEBUR128"),
    .systemLibrary(name: "CFFmpeg"),
    .systemLibrary(name: "CPostgres"),
    .systemLibrary(name: "CCurl"),
    .systemLibrary(name: "CJOSE"),
    .systemLibrary(name: "CPush"),
    .systemLibrary(name: "CQREncode"),
    .systemLibrary(name: "CZxcvbn"),

    // Compiled C: what Swift cannot say.
    .target(name: "CSystem", cSettings: [.define("_GNU_SOURCE"), .define("TAKE5_VERSION", to: version)]),
    .target(name: "CSandbox", cSettings: [.define("_GNU_SOURCE")], linkerSettings: [.linkedLibrary("seccomp")]),
    .target(
      name: "CImages",
      linkerSettings: [
        .linkedLibrary("jpeg"), .linkedLibrary("png"), .linkedLibrary("webp"), .linkedLibrary("webpdemux"),
        .linkedLibrary("webpmux"), .linkedLibrary("lcms2"),
      ]),
    .target(name: "CKernels"),

    // The domain as plain values.
    target("Model"),

    // Wrappers and mechanisms. A target imports only what stands above it.
    target("Platform", dependencies: "CSystem"),
    target("Crypto", dependencies: "CArgon2", "CCrypto", "CJOSE", "CZxcvbn", "Platform"),
    target("AV", dependencies: "CEBUR128", "CFFmpeg", "Platform"),
    target("Kernels", dependencies: "CKernels", "Platform"),
    target("Stills", dependencies: "CImages", "Kernels", "Platform"),
    target("Postgres", dependencies: "CPostgres", "Platform"),
    target("EmbeddedPostgres", dependencies: "Postgres", "Platform"),
    target("Telemetry", dependencies: "Platform"),
    target("HTTPServer", dependencies: "Platform", "Telemetry"),
    target("ISOBaseMedia", dependencies: "Model"),
    target("HTTPClient", dependencies: "CCurl", "Platform"),
    target("Push", dependencies: "CPush", "Crypto", "Model", "Platform"),

    // The media work, which knows neither database nor HTTP.
    target("Media", dependencies: "AV", "ISOBaseMedia", "Kernels", "Model", "Platform", "Stills"),
    target("MediaProcess", dependencies: "ISOBaseMedia", "Model", "Platform"),
    target("Sandbox", dependencies: "CSandbox", "MediaProcess", "Platform"),

    // The service.
    sql("Queue"),
    target("Queue", dependencies: "CQueueSQL", "Model", "Platform", "Postgres", "Telemetry"),
    target("Blobs", dependencies: "Crypto", "HTTPClient", "Model", "Platform"),
    sql("Store"),
    target("Store", dependencies: "Blobs", "Crypto", "CStoreSQL", "Model", "Platform", "Postgres", "Queue"),
    sql("Integrity"),
    target(
      "Integrity", dependencies: "Blobs", "CIntegritySQL", "Crypto", "ISOBaseMedia", "MediaProcess", "Model",
      "Platform", "Postgres", "Queue", "Store", "Telemetry"),
    .target(
      name: "Definitions", dependencies: ["Model"], path: "jobs", sources: ["Definitions.swift"],
      resources: [
        .embedInCode("take5-post.json"), .embedInCode("marker-video.json"), .embedInCode("photo-post.json"),
        .embedInCode("reaction.json"),
        .embedInCode("profile-image.json"), .embedInCode("itinerary-thumbnail.json"), .embedInCode("place-photo.json"),
        .embedInCode("itinerary.json"), .embedInCode("favourites.json"), .embedInCode("album.json"),
        .embedInCode("fields.json"),
        .embedInCode("notifications.json"),
      ], swiftSettings: settings),
    target(
      "Worker", dependencies: "Blobs", "Crypto", "Integrity", "MediaProcess", "Model", "Platform", "Postgres", "Queue",
      "Store", "Telemetry"),
    // The document is data of C: as an array in Swift it takes longer to compile than the rest of the API.
    .target(name: "COpenAPI", path: "Sources/OpenAPI", exclude: ["openapi.json"]),
    // So are the files of the console, which a browser loads as they are.
    .target(name: "CConsole", path: "Sources/Console", exclude: ["web"]),
    // What the rooms share, and which knows none of them.
    sql("Kit"),
    target(
      "Kit", dependencies: "Blobs", "CKitSQL", "COpenAPI", "Crypto", "HTTPServer", "ISOBaseMedia", "Model", "Platform",
      "Postgres", "Queue", "Store", "Telemetry"),
    sql("Rooms"),
    target(
      "Rooms", dependencies: "Blobs", "CArchive", "CConsole", "CRoomsSQL", "Crypto", "HTTPClient", "HTTPServer",
      "ISOBaseMedia", "Kit", "Model", "Platform", "Postgres", "Push", "Queue", "Store", "Telemetry"),
    program("take5-media", dependencies: "Media", "MediaProcess", "Model", "Platform", "Sandbox", "Stills"),
    program(
      "take5", dependencies: "Blobs", "CQREncode", "Rooms", "Crypto", "Definitions", "EmbeddedPostgres", "HTTPClient",
      "HTTPServer", "Integrity", "ISOBaseMedia", "Kit", "MediaProcess", "Model", "Platform", "Postgres", "Push",
      "Queue", "Store", "Telemetry", "Worker", settings: unoptimised),

    // What apps link: Foundation alone, and nothing of the service.
    target("Take5Client"),

    // What paints the samples, and the benchmark. They use `package` declarations, so they belong to this package. Not shipped.
    benchmark("make-samples", dependencies: "AV", "CLinkedLibraries", "Kernels", "Platform", "SyntheticMedia"),
    benchmark(
      "bench", dependencies: "AV", "Blobs", "CLinkedLibraries", "Crypto", "Definitions", "EmbeddedPostgres",
      "HTTPClient", "HTTPTesting", "Kernels", "Kit", "MediaFixtures", "MediaProcess", "Model", "Platform", "Postgres",
      "Queue", "Rooms", "SeededRandom", "Stills", "Store", "SyntheticMedia", "Telemetry",
      resources: [
        .embedInCode("Queue/Programs/contest.py"), .embedInCode("Queue/Programs/peer_awa.py"),
        .embedInCode("Queue/Programs/peer_pgqueuer.py"), .embedInCode("Queue/Programs/peer_procrastinate.py"),
      ]),

    // What tests share. Not shipped.
    support("BoxTesting", optimised: true),
    .target(
      name: "CLinkedLibraries", path: "Tests/Support/CLinkedLibraries",
      linkerSettings: [
        "avcodec", "avformat", "avutil", "swresample", "swscale", "heif", "pq", "crypto", "archive", "cjose", "argon2",
        "ebur128", "nghttp2", "qrencode", "ssl", "zxcvbn", ":libcurl.so.4",
      ].map {
        .linkedLibrary($0)
      }),
    .target(
      name: "CJPEGReference", path: "Tests/Support/CJPEGReference", linkerSettings: [.linkedLibrary("jpeg")]),
    .target(
      name: "CWebPReference", path: "Tests/Support/CWebPReference", linkerSettings: [.linkedLibrary("webpdemux")]),
    .target(name: "CClockSkew", path: "Tests/Support/CClockSkew", linkerSettings: [.linkedLibrary("dl")]),
    .executableTarget(
      name: "push-probe", dependencies: ["CLinkedLibraries", "Model", "Platform", "Push"],
      path: "Tests/Support/push-probe",
      swiftSettings: settings),
    .target(name: "CHEIFFixture", dependencies: ["CImages"], path: "Tests/Support/CHEIFFixture"),
    .target(
      name: "ChaosTesting",
      dependencies: [
        "Crypto", "Definitions", "EmbeddedPostgres", "HTTPTesting", "MediaFixtures", "Model", "Platform", "Postgres",
        "PostgresTesting", "Queue", "SchemaTesting", "SeededRandom", "Take5Testing", "Telemetry", "WaitTesting",
      ],
      path: "Tests/Support/ChaosTesting",
      resources: [.embedInCode("SQL/Chaos.sql"), .embedInCode("SQL/v9000_chaos.sql")], swiftSettings: unoptimised),
    .executableTarget(
      name: "chaos",
      dependencies: [
        "Blobs", "ChaosTesting", "CLinkedLibraries", "HTTPServer", "HTTPTesting", "MediaProcess", "Platform",
        "Postgres", "Queue", "Rooms", "Store",
      ],
      path: "Tests/Support/chaos", swiftSettings: unoptimised),
    .target(name: "CAttacks", path: "Tests/Support/CAttacks", cSettings: [.define("_GNU_SOURCE")]),
    .executableTarget(
      name: "hostile-media", dependencies: ["CAttacks", "MediaProcess", "Model", "Platform", "Sandbox"],
      path: "Tests/Support/hostile-media", swiftSettings: settings),
    // The parsers of hostile bytes, one fuzz target each; `make fuzz` builds it with libFuzzer.
    .executableTarget(
      name: "take5-fuzz",
      dependencies: [
        "AV", "BoxTesting", "CLinkedLibraries", "Rooms", "Crypto", "Definitions", "HTTPServer", "ISOBaseMedia",
        "Kernels", "Kit", "Media", "MediaProcess", "Model", "Platform", "Queue", "Stills", "Store",
      ],
      path: "Tests/Fuzzing", exclude: ["dictionaries", "fuzz.sh", "seeds"], swiftSettings: settings,
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    support("HTTPTesting", dependencies: "HTTPServer", "Platform", "WaitTesting"),
    support(
      "MediaFixtures", dependencies: "AV", "BoxTesting", "CHEIFFixture", "CJPEGReference", "CWebPReference", "Kernels",
      "Model", "Platform", "Stills", optimised: true),
    support("MemoryTesting"),
    support("SchemaTesting", dependencies: "Postgres"),
    support("WaitTesting", dependencies: "Platform"),
    support("SeededRandom", optimised: true),
    support(
      "MediaMutation", dependencies: "Blobs", "BoxTesting", "Crypto", "Definitions", "ISOBaseMedia", "Kernels",
      "MediaFixtures", "MediaProcess", "Model", "Platform", "SeededRandom", "Stills", optimised: true),
    .executableTarget(
      name: "mutate", dependencies: ["CLinkedLibraries", "MediaMutation", "MediaProcess", "Model", "Platform"],
      path: "Tests/Support/mutate", swiftSettings: settings),
    support("BlobTesting", dependencies: "Blobs", "Crypto", "Model", "Platform"),
    support("PostgresTesting", dependencies: "CSystem", "EmbeddedPostgres", "Platform", "Postgres", "WaitTesting"),
    support(
      "StoreTesting", dependencies: "BlobTesting", "Blobs", "Crypto", "Definitions", "Model", "Platform", "Postgres",
      "PostgresTesting", "Queue", "Rooms", "Store", "WaitTesting"),
    support("SyntheticMedia", dependencies: "AV", "Kernels", "Platform", optimised: true),
    support("Take5Testing", dependencies: "HTTPClient", "Platform", "WaitTesting"),
    support("TokenTesting", dependencies: "Platform", "PostgresTesting", "Take5Testing"),
    .executableTarget(
      name: "PostgresOwner", dependencies: ["CLinkedLibraries", "EmbeddedPostgres", "Postgres", "PostgresTesting"],
      path: "Tests/Support/PostgresOwner",
      swiftSettings: unoptimised),

    // Tests mirror Sources folder by folder.
    tests("PlatformTests", dependencies: "Platform", "Take5Testing", "WaitTesting"),
    tests("CryptoTests", dependencies: "Crypto", "Platform", "TokenTesting"),
    tests("AVTests", dependencies: "AV", "MediaFixtures", "Platform"),
    tests("KernelsTests", dependencies: "CKernels", "Kernels", "MemoryTesting"),
    tests(
      "StillsTests", dependencies: "CImages", "CJPEGReference", "Kernels", "MediaFixtures", "MemoryTesting", "Platform",
      "Stills"),
    tests("PostgresTests", dependencies: "Platform", "Postgres", "PostgresTesting", "WaitTesting"),
    tests(
      "EmbeddedPostgresTests", dependencies: "EmbeddedPostgres", "Platform", "Postgres", "PostgresOwner",
      "PostgresTesting", "WaitTesting"),
    tests("TelemetryTests", dependencies: "Platform", "Telemetry", "WaitTesting"),
    tests(
      "HTTPServerTests", dependencies: "HTTPServer", "HTTPTesting", "Platform", "SeededRandom", "Telemetry",
      "WaitTesting"),
    tests(
      "PushTests", dependencies: "Crypto", "Definitions", "HTTPTesting", "Model", "Platform", "PostgresTesting", "Push",
      "TokenTesting"),
    tests("HTTPClientTests", dependencies: "HTTPClient", "HTTPTesting", "Platform", "PostgresTesting"),
    tests(
      "ISOBaseMediaTests", dependencies: "BoxTesting", "Definitions", "ISOBaseMedia", "Model", "Platform",
      "SeededRandom"),
    tests("ModelTests", dependencies: "Definitions", "Model"),
    tests(
      "MediaTests", dependencies: "AV", "BoxTesting", "Definitions", "ISOBaseMedia", "Kernels", "Media",
      "MediaFixtures", "MediaMutation", "MediaProcess", "Model", "Platform", "SeededRandom", "Stills"),
    tests(
      "MediaProcessTests", dependencies: "Definitions", "MediaFixtures", "MediaProcess", "Model", "Platform",
      "hostile-media", "SeededRandom", "take5-media", "WaitTesting"),
    tests(
      "QueueTests", dependencies: "Model", "Platform", "Postgres", "PostgresTesting", "Queue", "SeededRandom",
      "Telemetry", "WaitTesting", resources: [.embedInCode("Versions/v0001_statements.sql")]),
    tests(
      "WorkerTests", dependencies: "Blobs", "BlobTesting", "Crypto", "Definitions", "hostile-media", "Integrity",
      "MediaFixtures", "MediaProcess", "Model", "Platform", "Postgres", "PostgresTesting", "Queue", "Rooms", "Store",
      "take5-media", "Telemetry", "WaitTesting", "Worker"),
    tests(
      "BlobsTests", dependencies: "Blobs", "BlobTesting", "Crypto", "HTTPClient", "HTTPServer", "HTTPTesting", "Model",
      "Platform", "PostgresTesting", "Take5Testing", "WaitTesting"),
    tests(
      "StoreTests", dependencies: "Blobs", "BlobTesting", "Crypto", "Definitions", "Kit", "Model", "Platform",
      "Postgres", "PostgresTesting", "Queue", "Rooms", "SchemaTesting", "Store", "StoreTesting", "WaitTesting",
      exclude: ["Versions/v0147.sql"],
      resources: [.embedInCode("Versions/v1_definitions.jsonl"), .embedInCode("Versions/v2_definitions.jsonl")]),
    tests(
      "IntegrityTests", dependencies: "Blobs", "BlobTesting", "Crypto", "Definitions", "EmbeddedPostgres", "Integrity",
      "MediaFixtures", "MediaProcess", "Model", "Platform", "Postgres", "PostgresTesting", "Queue", "Rooms", "Store",
      "take5-media", "Telemetry", "WaitTesting"),
    tests(
      "RoomsTests", dependencies: "Blobs", "BlobTesting", "BoxTesting", "Rooms", "Crypto", "Definitions", "HTTPServer",
      "HTTPTesting", "Kit", "Model", "Platform", "Postgres", "PostgresTesting", "Queue", "Store", "StoreTesting",
      "Telemetry", "TokenTesting", "WaitTesting"),
    tests(
      "ChaosTests", dependencies: "Blobs", "chaos", "ChaosTesting", "HTTPServer", "HTTPTesting", "Model", "Platform",
      "Postgres", "PostgresTesting", "Queue", "Rooms", "Store", "take5", "take5-media", "Take5Testing", "Telemetry",
      "WaitTesting"),
    tests(
      "MediaMutationTests", dependencies: "BoxTesting", "ISOBaseMedia", "MediaMutation", "Platform", "Take5Testing",
      "mutate", "take5-media"),
    tests("SyntheticMediaTests", dependencies: "AV", "Kernels", "Platform", "SyntheticMedia", "make-samples"),
    tests("benchTests", dependencies: "Definitions", "Model", "Platform", "bench"),
    tests(
      "take5Tests", dependencies: "Blobs", "Rooms", "Crypto", "HTTPClient", "HTTPServer", "Kit", "Platform", "Postgres",
      "PostgresTesting", "Queue", "Store", "take5", "take5-media", "Take5Testing", "Telemetry", "Worker"),
    // Not part of `make test`: it needs programs that `make test-players` installs.
    tests(
      "PlayersTests", dependencies: "AV", "BoxTesting", "Definitions", "HTTPServer", "HTTPTesting", "Media",
      "MediaFixtures", "Model", "Platform", "Stills",
      resources: [.embedInCode("Checkers/page.html"), .embedInCode("Checkers/slow.html")]),
    tests(
      "EndToEndTests", dependencies: "AV", "BoxTesting", "Crypto", "Definitions", "HTTPClient", "HTTPServer",
      "HTTPTesting", "MediaFixtures", "MediaProcess", "Model", "Platform", "Postgres", "PostgresTesting",
      "SeededRandom", "Stills", "Take5Testing", "TokenTesting", "hostile-media", "take5", "take5-media", "WaitTesting"),
  ]
)

// `make demo` builds two programs at once, `make test` nothing that tests do not need, and `make test ONLY=StoreTests` a part of them.
if let named {
  var missing = named
  var found: [String: Target] = [:]
  while let name = missing.popLast() {
    guard found[name] == nil, let target = package.targets.first(where: { $0.name == name }) else { continue }
    found[name] = target
    for dependency in target.dependencies {
      if case .byNameItem(let name, _) = dependency { missing.append(name) }
    }
    // A library that its processes load, not one that the tests are linked with.
    if name == "ChaosTesting" { missing.append("CClockSkew") }
  }
  package.targets = package.targets.filter { found[$0.name] != nil }
  package.products = package.products.filter { product in
    (product as? Product.Library)?.targets.allSatisfy { found[$0] != nil } == true
  }
}
