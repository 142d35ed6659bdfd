import FoundationEssentials
import Take5Testing
import Testing

/// What the programs are linked with, as readelf(1) and the dynamic linker see it.
@Suite("Programs")
struct ProgramTests {
  private static let media = [
    "libav", "libswscale", "libswresample", "libheif", "libjpeg", "libpng", "libwebp", "liblcms2", "libebur128",
  ]
  private static let service = [
    "libpq", "libcurl", "libmicrohttpd", "libnghttp2", "libssl", "libcrypto", "libcjose", "libargon2", "libzxcvbn",
    "libqrencode",
  ]

  @Test(
    "a program needs no library of the other one's work",
    arguments: [(Take5Binary.path, media, "libFoundationEssentials"), (Take5Binary.mediaPath, service, "libjpeg")])
  func needed(program: String, foreign: [String], own: String) async throws {
    let run = try await Take5Command.run(["-d", program], program: "/usr/bin/readelf")
    let needed = run.output.split(separator: "\n").filter { $0.contains("(NEEDED)") }
    #expect(needed.contains { $0.contains("[\(own)") }, "\(run.errors)")
    for library in foreign { #expect(!needed.contains { $0.contains("[\(library)") }, "\(program): \(library)") }
  }

  /// A program with arguments that end it at once, and the libraries that it opens.
  struct Program: Sendable {
    let path: String
    let arguments: [String]
    let status: Int32
    let libraries: [String]
  }

  /// The name with which programs open the newest installed version of a library of FFmpeg, such as `libavutil.so.57`.
  private static func newest(_ library: String) -> String {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: "/usr/lib")) ?? []
    let versions = files.compactMap { file in
      file.split(separator: "/").last?.wholeMatch(of: /(\w+)\.so\.(\d+)/).flatMap { $0.1 == library ? Int($0.2) : nil }
    }
    return "\(library).so.\(versions.max() ?? 0)"
  }

  static let programs = [
    Program(
      path: Take5Binary.path, arguments: ["--help"], status: 0,
      libraries: [
        "libpq.so.5", "libcurl.so.4", "libnghttp2.so.14", "libssl.so.3", "libcrypto.so.3", "libcjose.so.0",
        "libargon2.so.1", "libzxcvbn.so.0", "libarchive.so.13", "libqrencode.so.4",
      ]),
    // Without the socket of a parent it fails.
    Program(
      path: Take5Binary.mediaPath, arguments: [], status: 1,
      libraries: ["libavutil", "libavcodec", "libavformat", "libswscale", "libswresample"].map(newest)
        + ["libheif.so.1", "libebur128.so.1"]),
  ]

  // LD_BIND_NOW makes the dynamic linker resolve every function at the start (ld.so(8)).
  @Test("each function that is bound at its first call exists in a library that the program opens", arguments: programs)
  func functions(_ program: Program) async throws {
    func run(_ environment: [String: String]) async throws -> Take5Command {
      try await Take5Command.run(program.arguments, program: program.path, environment: environment)
    }
    let lazy = try await run([:])
    #expect(lazy.status == program.status, "\(lazy.errors)")
    let bound = try await run(["LD_BIND_NOW": "1", "LD_PRELOAD": program.libraries.joined(separator: " ")])
    #expect(bound.status == program.status, "\(bound.errors)")
    let missing = try await run(["LD_BIND_NOW": "1"])
    #expect(missing.status == 127 && missing.errors.contains("undefined symbol"), "\(missing.errors)")
  }
}
