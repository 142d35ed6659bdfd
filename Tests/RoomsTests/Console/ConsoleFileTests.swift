import FoundationEssentials
import HTTPTesting
import Platform
import PostgresTesting
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

/// The files of the console, as browsers get them.
@Suite("Files of the console", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ConsoleFileTests {
  private static let folder =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Sources/Console/web"

  private static func bytes(of name: String) throws -> [UInt8] {
    try Descriptor(reading: "\(folder)/\(name)").contents()
  }

  @Test("the program has each file of the folder that browsers load, byte by byte, and no other")
  func table() throws {
    let names = try Folder.names(in: Self.folder)
    #expect(names.count > 5)
    #expect(Set(ConsoleFiles.all.keys) == Set(names))
    let types = [
      "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
      "svg": "image/svg+xml", "json": "application/json",
    ]
    for (name, file) in ConsoleFiles.all {
      #expect(try file.bytes == Self.bytes(of: name), "\(name)")
      #expect(file.type == types[String(name.split(separator: ".").last ?? "")], "\(name)")
    }
  }

  @Test("pages and what they load need no credential, and permit nothing but what the service has")
  func policy() async throws {
    try await RunningAPI.with(.init(key: "k1")) { api in
      for (path, name) in [
        ("/console", "console.html"), ("/console?from=mail", "console.html"), ("/film", "film.html"),
        ("/client.js", "client.js"), ("/console/app.js", "app.js"), ("/console/console.css", "console.css"),
      ] {
        let (response, bytes) = (try await api.get(path), try Self.bytes(of: name))
        #expect(response.status == 200 && response.body == bytes, "\(path)")
        #expect(response.headers["content-type"] == ConsoleFiles.all[name]?.type, "\(path)")
        #expect(
          response.headers["content-security-policy"]
            == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
            + "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        for (field, value) in [
          ("cache-control", "no-cache"), ("vary", "Accept-Encoding"), ("x-content-type-options", "nosniff"),
          ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
          ("x-frame-options", "DENY"),
        ] { #expect(response.headers[field] == value, "\(path)") }
        #expect(response.headers["content-encoding"] == nil, "\(path)")
        let head = try await request("HEAD", path, port: api.port)
        #expect(head.status == 200 && head.headers["content-length"] == "\(response.body.count)", "\(path)")
      }
      for path in ["/console/files.c", "/console/nothing.js", "/console/", "/console/..%2Fapp.js"] {
        #expect(try await api.get(path, headers: [("Authorization", "Bearer k1")]).status == 404, "\(path)")
      }
    }
  }

  @Test("a client that accepts gzip gets fewer bytes, which decompress to the same, with a tag of their own")
  func compression() async throws {
    try await RunningAPI.with { api in
      for name in ["app.js", "console.html"] {
        let path = "/console/\(name)"
        let plain = try await api.get(path)
        let packed = try await api.get(path, headers: [("Accept-Encoding", "br, gzip")])
        #expect(packed.headers["content-encoding"] == "gzip" && packed.headers["vary"] == "Accept-Encoding")
        #expect(packed.body.count < plain.body.count)
        #expect(try await Self.decompressed(packed.body) == plain.body)
        let tags = try [plain, packed].map { try #require($0.headers["etag"]) }
        #expect(tags[0] != tags[1])
        for (tag, encoding) in zip(tags, ["identity", "gzip"]) {
          let headers = [("Accept-Encoding", encoding), ("If-None-Match", tag)]
          let again = try await api.get(path, headers: headers)
          #expect(again.status == 304 && again.headers["etag"] == tag && again.body.isEmpty, "\(encoding)")
          #expect(again.headers["vary"] == "Accept-Encoding", "\(encoding)")
        }
        let other = try await api.get(path, headers: [("Accept-Encoding", "gzip"), ("If-None-Match", tags[0])])
        #expect(other.status == 200)
      }
    }
  }

  @Test(
    "whether gzip is accepted follows from the weights",
    arguments: [
      ("gzip", true), ("GZIP;q=0.5", true), ("x-gzip", true), ("*", true), ("br, *;q=0.1", true), ("", false),
      ("br", false), ("gzip;q=0", false), ("gzip; q=0.000", false), ("*;q=0", false), ("identity", false),
      ("*, gzip;q=0", false),
    ])
  func weights(field: String, isAccepted: Bool) {
    #expect(Gzip.isAccepted(by: ["Accept-Encoding": field]) == isAccepted)
    #expect(!Gzip.isAccepted(by: [:]))
  }

  @Test("the same content is compressed to the same bytes, and what does not get shorter stays")
  func stable() throws {
    let text = [UInt8](repeating: 7, count: 100_000)
    let packed = try #require(Gzip.compressed(text))
    #expect(packed.count < 1000 && Gzip.compressed(text) == packed)
    #expect(Gzip.compressed([]) == nil && Gzip.compressed([1, 2, 3]) == nil)
    let random = (0..<5000).map { _ in UInt8.random(in: .min ... .max) }
    #expect(Gzip.compressed(random) == nil)
  }

  @Test("pages have nothing inline, and load nothing from elsewhere")
  func pages() throws {
    for name in ConsoleFiles.all.keys where name.hasSuffix(".html") {
      let text = String(decoding: try Self.bytes(of: name), as: UTF8.self)
      for match in text.matches(of: /<script([^>]*)>([^<]*)/) {
        #expect(match.1.contains("src=") && match.2.isEmpty, "\(name): \(match.0)")
      }
      #expect(!text.contains("<style") && !text.contains("javascript:"), "\(name)")
      #expect(text.firstMatch(of: /\s(style|on[a-z]+)\s*=/) == nil, "\(name)")
      for match in text.matches(of: /\s(?:src|href)="([^"]*)"/) {
        let target = match.1
        let isOurs = target.hasPrefix("#") || target == "/client.js" || target == "/console" || target == "/film"
        let file = target.hasPrefix("/console/") ? String(target.dropFirst("/console/".count)) : ""
        #expect(isOurs || ConsoleFiles.all[file] != nil, "\(name): \(target)")
      }
    }
  }

  @Test("scripts load only scripts that are there, and make no markup from texts")
  func scripts() throws {
    for name in ConsoleFiles.all.keys where name.hasSuffix(".js") {
      let text = String(decoding: try Self.bytes(of: name), as: UTF8.self)
      for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
        #expect(!text.contains(forbidden), "\(name): \(forbidden)")
      }
      for match in text.matches(of: /(?:\bfrom\s+|\bimport\s+|\bimport\()"([^"]+)"/) {
        let target = match.1
        let isThere =
          target == "/client.js" || target.hasPrefix("./") && ConsoleFiles.all[String(target.dropFirst(2))] != nil
        #expect(isThere, "\(name): \(target)")
      }
    }
  }

  /// What gzip(1) makes of compressed bytes.
  private static func decompressed(_ bytes: [UInt8]) async throws -> [UInt8] {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: URL(filePath: "\(folder.path)/packed.gz"))
    return try await onThread("gzip") { () throws in
      let output = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(path: "/bin/gzip", arguments: ["-dc", "\(folder.path)/packed.gz"])
      configuration.descriptors = [nil, output.number, nil]
      #expect(try ChildProcess(configuration).wait() == .exited(0))
      return try output.contents()
    }
  }
}
