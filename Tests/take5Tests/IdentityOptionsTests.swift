import Crypto
import HTTPClient
import Platform
import PostgresTesting
import Rooms
import Telemetry
import Testing

@testable import take5

@Suite("Options of the identity provider")
struct IdentityOptionsTests {
  @Test(
    "a key set is a file, an https URL, or an http URL of this machine",
    arguments: [
      ("/etc/take5/keys.json", .file("/etc/take5/keys.json")), ("keys.json", .file("keys.json")),
      (
        "https://id.example/realms/a/certs?b=c",
        .url(ServerAddress(scheme: .https, host: "id.example", port: 443), path: "/realms/a/certs?b=c")
      ),
      ("https://id.example", .url(ServerAddress(scheme: .https, host: "id.example", port: 443), path: "/")),
      ("http://127.0.0.1:9000/k", .url(ServerAddress(host: "127.0.0.1", port: 9000), path: "/k")),
      ("http://[::1]/k", .url(ServerAddress(host: "::1", port: 80), path: "/k")),
      ("http://localhost/k", .url(ServerAddress(host: "localhost", port: 80), path: "/k")),
      ("http://id.example/k", nil), ("http://127.0.0.1.example/k", nil), ("http://10.0.0.1/k", nil),
      ("http://127.0.0.1@id.example/k", nil), ("ftp://id.example/k", nil), ("https://", nil), ("https:///k", nil),
      ("https://id.example/a b", nil), ("https://id.example/#a", nil), ("", nil),
    ] as [(String, KeySetLocation?)])
  func locations(text: String, expected: KeySetLocation?) {
    #expect(KeySetLocation(text) == expected)
  }

  private static func options(_ given: [String: String]) throws -> IdentityOptions? {
    let arguments = given.sorted { $0.key < $1.key }.flatMap { ["--jwt-\($0.key)", $0.value] }
    return try IdentityOptions(Arguments(arguments, of: .serve, environment: [:]))
  }

  @Test("all three options belong together; the message names those that are missing")
  func combinations() throws {
    let all = ["keys": "k.json", "issuer": "https://id.example", "audience": "take5"]
    #expect(try Self.options([:]) == nil)
    let complete = try #require(try Self.options(all))
    #expect(complete.rules.issuer == "https://id.example" && complete.rules.audience == "take5")
    for missing in all.keys {
      let failure = #expect(throws: CommandFailure.self) { try Self.options(all.filter { $0.key != missing }) }
      #expect(failure?.status == .usage && failure?.message?.hasSuffix("need --jwt-\(missing)") == true)
      #expect(failure?.remedy?.contains("--jwt-audience") == true)
    }
    let plain = all.merging(["keys": "http://id.example/k"]) { $1 }
    let failure = #expect(throws: CommandFailure.self) { try Self.options(plain) }
    #expect(failure?.message?.contains("http:// with an address of this machine") == true)
  }

  @Test("a file without a key set is refused at the start; a URL that does not respond is not")
  func start() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/keys.json"
    try Descriptor(writing: path, replacing: true).write(Array(#"{"keys":[]}"#.utf8))
    let log = Logger(format: .text, lowest: .error)
    for path in [path, "\(folder.path)/missing.json", folder.path] {
      let options = try #require(try Self.options(["keys": path, "issuer": "i", "audience": "a"]))
      let failure = await #expect(throws: CommandFailure.self) { try await options.provider(log) }
      #expect(failure?.status == .configuration && failure?.remedy != nil)
    }
    let url = try #require(try Self.options(["keys": "http://127.0.0.1:1/k", "issuer": "i", "audience": "a"]))
    #expect(try await !url.provider(log).hasKeys)
  }
}
