import FoundationEssentials
import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("take5 submit", .tags(.process), .serialized, .timeLimit(.minutes(15)))
struct SubmitTests {
  private let service: Service
  private let photo: String

  init() async throws {
    service = try await Service()
    photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
  }

  private func submit(_ arguments: [String]) async throws -> Take5Command {
    try await Take5Command.run(["submit"] + arguments + ["--server", service.url], in: service.folder.path)
  }

  @Test("each kind of media can be submitted and saved")
  func kinds() async throws {
    let clip = try Clips.write(Clips.front, "clip.mp4", in: service.folder)
    let text = try await submit(["marker", "--title", "Here", "--author", "ada", "--json"])
    let post = try #require(text.output.split(separator: "\"").dropFirst(3).first.map(String.init))
    let submissions: [(arguments: [String], saved: String)] = [
      (["photo", photo, photo, "--author", "ada"], "1.photo.large.jpg"),
      (["marker", photo, "--location", "52.52,13.405"], "1.photo.large.jpg"), (["marker", clip], "clip.mp4"),
      (["reaction", post, photo, "--author", "grace"], "photo.small.jpg"),
      (["profile-image", "a user/with a slash", photo], "avatar.jpg"),
      (["thumbnail", "spring", photo], "photo.medium.jpg"), (["place-photo", "gate", photo], "photo.large.jpg"),
    ]
    for (number, submission) in submissions.enumerated() {
      let folder = "\(service.folder.path)/saved-\(number)"
      // --save implies --wait.
      let run = try await submit(submission.arguments + ["--save", folder])
      #expect(run.status == 0 && run.output.contains("is ready"), "\(submission.arguments): \(run.errors)\(run.output)")
      let names = try Folder.names(in: folder)
      #expect(names.contains(submission.saved), "\(submission.arguments): \(names)")
      for name in names {
        #expect(run.output.contains("\(folder)/\(name)"))
        #expect(try Descriptor(reading: "\(folder)/\(name)").size() > 100)
      }
    }
    try await service.stop()
  }

  @Test("--wait uses long polls, and prints absolute URLs")
  func waiting() async throws {
    let run = try await submit(["photo", photo, "--wait", "--json"])
    let result = try JSONDecoder().decode(API.Value.self, from: Data(run.output.utf8))
    let url = try #require(result["photos"]?.items.first?["photo.large"]?.text)
    #expect(url.hasPrefix("\(service.url)/v1/media/"), "\(url)")
    let opened = try await service.get(String(url.dropFirst(service.url.count)))
    #expect(opened.status == 200 && opened.body.starts(with: [0xFF, 0xD8]))
    let requests = service.process.log.split(separator: "\n").count { $0.contains("path=/v1/jobs/") }
    #expect(requests <= 2, "\(service.process.log)")
    try await service.stop()
  }

  @Test("rejected media save nothing, and an unwritable folder is an error before anything is sent")
  func refused() async throws {
    let folder = "\(service.folder.path)/saved"
    let broken = try Clips.write(Array("no photo at all".utf8), "broken.jpg", in: service.folder)
    let run = try await submit(["photo", broken, "--save", folder])
    #expect(run.status == 65, "\(run.errors)")
    #expect(access(folder, F_OK) != 0)
    let blocked = try await submit(["photo", photo, "--save", "\(photo)/below"])
    #expect(blocked.status == 74, "\(blocked.errors)")
    #expect(try await service.count("SELECT count(*)::int FROM post WHERE status <> 'rejected'") == 0)
    try await service.stop()
  }
}

/// `--server` with TLS and with proxies.
@Suite("take5 submit --server", .tags(.process), .serialized)
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

  @Test("a moment is submitted and saved over TLS, with a certificate from the option or a variable")
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

  @Test("nothing is sent to a server whose certificate is not valid, and the error names the reason")
  func refused() async throws {
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let certificate = try await Certificate(in: folder)
    let other = try await Certificate(in: folder, name: "other")
    let nginx = try await Nginx(before: service.url, certificate: certificate)
    let url = "https://localhost:\(nginx.port)"
    let name = "https://127.0.0.1:\(nginx.port)"
    let plain = service.url.replacing("http://", with: "https://")
    let cases: [(server: String, options: [String], contains: [String])] = [
      (url, [], [url, "self-signed certificate", "--cacert"]),
      (url, ["--cacert", other.path], [url, "self-signed certificate", "--cacert"]),
      (name, ["--cacert", certificate.path], [name, "matches target host name '127.0.0.1'"]),
      (url, ["--cacert", "/nowhere.pem"], [url, "/nowhere.pem", "--cacert"]),
      (plain, [], [plain, "http://"]),
    ]
    for example in cases {
      let run = try await submit(example.server, example.options)
      #expect(run.status == 69)
      for text in example.contains { #expect(run.errors.contains(text), "\(run.errors)") }
    }
    #expect(try await service.count("SELECT count(*) FROM post") == 0)
    #expect(!service.process.log.contains("/v1/posts"))
    await nginx.stop()
    try await service.stop()
  }

  @Test("proxies are taken from the environment, except for the hosts of no_proxy")
  func proxies() async throws {
    // Every HTTP server accepts the absolute form of a request to a proxy (RFC 9112, section 3.2.2).
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let proxied = try await submit("http://take5.invalid", environment: ["http_proxy": service.url])
    #expect(proxied.status == 0, "\(proxied.errors)")
    let direct = try await submit(
      "http://take5.invalid", environment: ["http_proxy": service.url, "no_proxy": "take5.invalid"])
    #expect(direct.status == 69)
    #expect(direct.errors.contains("cannot resolve the host of http://take5.invalid:80"), "\(direct.errors)")
    let broken = try await submit(service.url, environment: ["http_proxy": "http://127.0.0.1:1"])
    #expect(broken.status == 69)
    #expect(broken.errors.contains("127.0.0.1 port 1 "), "\(broken.errors)")
    try await service.stop()
  }
}
