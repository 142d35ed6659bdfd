import Crypto
import HTTPClient
import Kit
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

  private static func options(_ given: [String: String], file: String? = nil) throws -> IdentityOptions {
    let arguments = given.sorted { $0.key < $1.key }.flatMap { ["--jwt-\($0.key)", $0.value] }
    let further = file.map { ["--identity-providers", $0] } ?? []
    return try IdentityOptions(Arguments(arguments + further, of: .serve, environment: [:]))
  }

  @Test("all three options belong together; the message names the missing ones")
  func combinations() throws {
    let all = ["keys": "k.json", "issuer": "https://id.example", "audience": "take5"]
    #expect(try Self.options([:]).providers.isEmpty)
    let complete = try #require(try Self.options(all).providers.first?.rules)
    #expect(complete == IdentityRules(issuer: "https://id.example", audience: "take5"))
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
      let options = try Self.options(["keys": path, "issuer": "i", "audience": "a"])
      let failure = await #expect(throws: CommandFailure.self) { try await options.providers(log) }
      #expect(failure?.status == .configuration && failure?.remedy != nil)
    }
    let url = try Self.options(["keys": "http://127.0.0.1:1/k", "issuer": "i", "audience": "a"])
    #expect(try await url.providers(log).list.map(\.hasKeys) == [false])
  }

  @Test("a file has further providers, with prefixes that differ; any other file is refused with the reason")
  func file() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/providers.json"
    let jwt = ["keys": "k.json", "issuer": "https://id.example", "audience": "take5"]
    func read(_ json: String, _ given: [String: String] = [:]) throws -> [IdentityOptions.Provider] {
      try Descriptor(writing: path, replacing: true).write(Array(json.utf8))
      return try Self.options(given, file: path).providers
    }
    func entry(_ name: String, prefix: String? = nil) -> String {
      let prefix = prefix.map { #","prefix":"\#($0)""# } ?? ""
      return #"{"issuer":"https://\#(name).example","audience":"app","keys":"https://\#(name).example/keys"\#(prefix)}"#
    }
    #expect(try read("[\(entry("a"))]").map(\.rules) == [IdentityRules(issuer: "https://a.example", audience: "app")])
    let three = try read("[\(entry("a", prefix: "a-")),\(entry("b", prefix: "b|"))]", jwt)
    #expect(three.map(\.rules.prefix) == ["", "a-", "b|"])
    #expect(three.map(\.keys).last == KeySetLocation("https://b.example/keys"))
    let nine = (1...9).map { entry("\($0)", prefix: "\($0)") }
    #expect(try read("[\(nine.dropLast().joined(separator: ","))]").count == 8)
    for (json, reason) in [
      ("", "not a JSON list"), ("{}", "not a JSON list"), ("[7]", "not a JSON list"),
      (#"[{"issuer":7}]"#, "not a JSON list"),
      ("[]", "0 identity providers"), ("[\(nine.joined(separator: ","))]", "9 identity providers"),
      ("[\(entry("a")),\(entry("b"))]", "the same prefix"),
      ("[\(entry("a", prefix: "a")),\(entry("a", prefix: "b"))]", "the same issuer"),
      ("[\(entry("a").replacing("issuer", with: "iss"))]", "provider 1 has an unknown 'iss'"),
      ("[\(entry("a", prefix: "a").replacing("prefix", with: "prefx"))]", "unknown 'prefx'"),
      ("[\(entry("a", prefix: "x")),\(entry("b").replacing("app", with: ""))]", "provider 2 lacks"),
      (#"[{"issuer":"a","audience":"b"}]"#, "lacks issuer, audience or keys"),
      ("[\(entry("a").replacing("https://a.example/keys", with: "http://a.example/keys"))]", "http:// with an address"),
      ("[\(entry("a", prefix: "a b"))]", "prefix"), ("[\(entry("a", prefix: "é"))]", "prefix"),
      ("[\(entry("a", prefix: String(repeating: "a", count: 51)))]", "prefix"),
      ("[\(String(repeating: " ", count: 64 << 10))]", "longer than"),
    ] {
      let failure = #expect(throws: CommandFailure.self, "\(json)") { try read(json) }
      #expect(failure?.status == .configuration && failure?.remedy != nil)
      #expect(failure?.message?.contains(reason) == true, "\(failure?.message ?? "")")
    }
    let failure = #expect(throws: CommandFailure.self) { try Self.options([:], file: "\(path).missing") }
    #expect(failure?.message?.contains("cannot be read") == true)
    #expect(throws: CommandFailure.self) { try read("[\(entry("a"))]", jwt) }
    #expect(throws: CommandFailure.self) { try read("[\(entry("id", prefix: "a"))]", jwt) }
  }
}
