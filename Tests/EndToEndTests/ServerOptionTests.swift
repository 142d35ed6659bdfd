import MediaFixtures
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// The command line before a service that is elsewhere: behind TLS, and behind proxies.
@Suite("take5 --server", .tags(.process), .serialized)
struct ServerOptionTests {
  private let folder: TemporaryFolder
  private let clips: [String]

  init() throws {
    folder = try TemporaryFolder()
    clips = [
      try Clips.write(Clips.front, "front.mp4", in: folder), try Clips.write(Clips.back, "back.mp4", in: folder),
    ]
  }

  private func submit(
    _ server: String, _ more: [String] = [], environment: [String: String] = [:]
  ) async throws -> Take5Command {
    try await Take5Command.run(
      ["submit", "post"] + clips + ["--server", server] + more,
      environment: ["TAKE5_API_KEY": "t5-key"].merging(environment) { $1 })
  }

  @Test("behind TLS a moment is submitted, waited for and saved, by a certificate that is named in any way")
  func certified() async throws {
    let service = try await Service(environment: ["TAKE5_API_KEY": "t5-key"])
    let certificate = try await Certificate(in: folder)
    let nginx = try await Nginx(before: service.url, certificate: certificate)
    let url = "https://localhost:\(nginx.port)"
    let saved = "\(folder.path)/saved"
    let run = try await submit(url, ["--cacert", certificate.path, "--wait", "--save", saved])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try Folders.files(below: saved).contains("\(saved)/composed.mp4"))
    #expect(try await submit(url, environment: ["CURL_CA_BUNDLE": certificate.path]).status == 0)
    #expect(try await submit(url, environment: ["SSL_CERT_FILE": certificate.path]).status == 0)
    await nginx.stop()
    try await service.stop()
  }

  @Test("whoever cannot prove that he is the one that is named gets nothing, and the user hears why")
  func refused() async throws {
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let certificate = try await Certificate(in: folder)
    let other = try await Certificate(in: folder, name: "other")
    let nginx = try await Nginx(before: service.url, certificate: certificate)
    let url = "https://localhost:\(nginx.port)"
    let name = "https://127.0.0.1:\(nginx.port)"
    let plain = service.url.replacing("http://", with: "https://")
    let cases: [(server: String, options: [String], says: [String])] = [
      (url, [], [url, "self-signed certificate", "--cacert"]),
      (url, ["--cacert", other.path], [url, "self-signed certificate", "--cacert"]),
      (name, ["--cacert", certificate.path], [name, "matches target host name '127.0.0.1'"]),
      (url, ["--cacert", "/nowhere.pem"], [url, "/nowhere.pem", "--cacert"]),
      (plain, [], [plain, "http://"]),
    ]
    for example in cases {
      let run = try await submit(example.server, example.options)
      #expect(run.status == 69)
      for text in example.says { #expect(run.errors.contains(text), "\(run.errors)") }
    }
    #expect(try await service.count("SELECT count(*) FROM post") == 0)
    #expect(!service.process.log.contains("/v1/posts"))
    await nginx.stop()
    try await service.stop()
  }

  @Test("proxies are those of the environment, but for the hosts that it excepts")
  func proxies() async throws {
    // Any HTTP server takes what a proxy is asked for (RFC 9112, section 3.2.2).
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let proxied = try await submit("http://take5.invalid", environment: ["http_proxy": service.url])
    #expect(proxied.status == 0, "\(proxied.errors)")
    let excepted = try await submit(
      "http://take5.invalid", environment: ["http_proxy": service.url, "no_proxy": "take5.invalid"])
    #expect(excepted.status == 69)
    #expect(excepted.errors.contains("http://take5.invalid:80 is not known here"), "\(excepted.errors)")
    let broken = try await submit(service.url, environment: ["http_proxy": "http://127.0.0.1:1"])
    #expect(broken.status == 69)
    #expect(broken.errors.contains("127.0.0.1 port 1 "), "\(broken.errors)")
    try await service.stop()
  }
}
