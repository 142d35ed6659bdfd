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
import WaitTesting

@Suite("take5 submit", .tags(.process), .timeLimit(.minutes(60)))
struct SubmitTests {
  private let service: Service
  private let photo: String

  init() async throws {
    service = try await Service()
    photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
  }

  private func submit(_ arguments: [String]) async throws -> Take5Command {
    try await Take5Command.run(["submit"] + arguments.withAuthor + ["--server", service.url], in: service.folder.path)
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

/// What `take5 submit` prints and where, and how it ends.
@Suite("take5 submit and its result", .tags(.process), .timeLimit(.minutes(60)))
struct SubmitResultTests {
  /// A service without workers: nothing is processed.
  private let service: Service
  private let photo: String

  init() async throws {
    service = try await Service(workers: 0)
    photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
  }

  private func submit(
    _ arguments: [String], to server: String? = nil, environment: [String: String] = [:]
  ) async throws -> Take5Command {
    try await Take5Command.run(
      ["submit"] + arguments.withAuthor + ["--server", server ?? service.url], environment: environment,
      in: service.folder.path)
  }

  private static func json(_ text: some StringProtocol) throws -> API.Value {
    try JSONDecoder().decode(API.Value.self, from: Data(text.utf8))
  }

  @Test("files that the service refuses end the command with status 65 and the reasons, also without --wait")
  func arrival() async throws {
    let text = try Clips.write(Array("not a clip, and no photo".utf8), "text.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    // It is refused before its last byte.
    let bytes = try TemporaryFile.bytes(of: Clips.front.write())
    let large = try Clips.write(Clips.padded(bytes, by: 1 << 20, filler: 7), "large.mp4", in: service.folder)
    let post = try #require(
      try Self.json(try await submit(["marker", "--title", "Here", "--json"]).output)["id"]?.text)
    let refused: [(arguments: [String], code: String)] = [
      (["post", back, back], "same_file_twice"), (["post", text, back], "unsupported_container"),
      (["photo", photo, text], "unsupported_container"), (["photo", large], "unsupported_container"),
      (["marker", text], "unsupported_container"),
    ]
    for (arguments, code) in refused {
      let run = try await submit(arguments)
      #expect(run.status == 65 && run.output.contains("is rejected\n  "), "\(arguments): \(run)")
      #expect(run.output.contains("\(code): "), "\(arguments): \(run)")
      let json = try await submit(arguments + ["--json"])
      let result = try Self.json(json.output)
      #expect(json.status == 65 && result["status"]?.text == "rejected", "\(arguments): \(json)")
      #expect(result["reasons"]?.items.contains { $0["code"]?.text == code } == true, "\(arguments): \(json)")
    }
    let second = try await submit(["photo", photo, text])
    #expect(second.output.contains("\n  photo 2: unsupported_container: "), "\(second)")
    for arguments in [
      ["reaction", post, text], ["profile-image", "ada", text], ["thumbnail", "spring", text],
      ["place-photo", "gate", large],
    ] {
      let run = try await submit(arguments)
      #expect(run.status == 65 && run.output.isEmpty, "\(arguments): \(run)")
      // The reasons, each once; what programs should do with them is not for people.
      #expect(run.errors.split(separator: "\n").count == 1, "\(arguments): \(run)")
      #expect(run.errors.components(separatedBy: "The file is").count == 2, "\(arguments): \(run)")
    }
    #expect(try await service.count("SELECT count(*)::int FROM post WHERE status <> 'rejected'") == 1)
    for table in ["image", "job", "asset", "blob"] {
      #expect(try await service.count("SELECT count(*)::int FROM \(table)") == 0, "\(table)")
    }
    try await service.stop()
  }

  @Test("a key that may not read submits, and the command says that the outcome is not known")
  func withoutReading() async throws {
    let created = try await Take5Command.run([
      "keys", "create", "phone", "--scopes", "submit", "--json", "--data", service.data,
    ])
    let key = try #require(try Self.json(created.output)["key"]?.text)
    // The service learns of the key a moment later.
    try await until { try await service.get("/v1/posts").status == 401 }
    let run = try await submit(["photo", photo], environment: ["TAKE5_API_KEY": key])
    #expect(run.status == 0 && run.output.contains("is processing"), "\(run)")
    #expect(run.errors.contains("scope 'read'"), "\(run)")
    let without = try await submit(["photo", photo])
    #expect(without.status == 64 && !without.errors.contains("Authorization"), "\(without)")
    #expect(without.errors.contains("--api-key-file") && without.errors.contains("TAKE5_API_KEY"), "\(without)")
    try await service.stop()
  }

  @Test("--save refuses a folder with a file of a name that the media may get, before anything is sent")
  func existing() async throws {
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let folder = "\(service.folder.path)/saved"
    // No service is asked.
    let nowhere = "http://127.0.0.1:1"
    try Folder.make(folder)
    let id = "\(PublicID.now())"
    let cases: [(arguments: [String], name: String)] = [
      (["post", front, front], "clip.back.mp4"), (["post", front, front], "preview.webp"),
      (["photo", photo, photo], "2.photo.small.webp"), (["marker", photo], "1.photo.large.jpg"),
      (["marker", front], "clip.mp4"), (["reaction", id, photo], "photo.medium.avif"),
      (["profile-image", "ada", photo], "avatar.jpg"),
    ]
    for (arguments, name) in cases {
      let path = try Clips.write([1], "saved/\(name)", in: service.folder)
      let run = try await submit(arguments + ["--save", folder], to: nowhere)
      #expect(run.status == 74 && run.errors.contains("\(path) already exists"), "\(arguments): \(run)")
      #expect(unlink(path) == 0)
    }
    // Inputs are never replaced.
    let input = "\(folder)/1.photo.large.jpg"
    #expect(link(photo, input) == 0)
    let forced = try await submit(["photo", input, "--save", folder, "--force"], to: nowhere)
    #expect(forced.status == 64 && forced.errors.contains("\(input) is an input"), "\(forced)")
    // A file with the name of other media does not matter: the service gets the submission, and refuses it.
    let run = try await submit(["post", front, front, "--save", folder])
    #expect(run.status == 65, "\(run)")
    #expect(try Folder.names(in: folder) == ["1.photo.large.jpg"])
    try await service.stop()
  }

  /// Starts the submission of a photo that waits, and returns its id once the command looks at the post.
  private func waiting(_ more: [String]) async throws -> (command: RunningTake5, id: String) {
    let command = try RunningTake5()
    _ = try await command.start(
      ["submit", "photo", photo, "--author", "me", "--server", service.url] + more, printsFirstLine: false)
    #expect(await command.waitForLog("take5: created post "))
    let id = try #require(command.log.split(separator: " ").last.map(String.init))
    #expect(PublicID(id) != nil)
    #expect(await service.process.waitForLog("path=/v1/posts/\(id)"))
    return (command, id)
  }

  @Test("the id is known before the media are processed, and after Ctrl-C 'take5 posts save' continues")
  func interrupted() async throws {
    let folder = "\(service.folder.path)/a folder"
    let (command, id) = try await waiting(["--save", folder])
    await command.send(signal: SIGINT)
    #expect(await command.wait() == 130)
    let remedy = "       to continue: take5 posts save \(id) '\(folder)' --server \(service.url)\n"
    #expect(command.log.contains("take5: interrupted by a signal; post \(id) is stored\n"), "\(command.log)")
    #expect((command.log + "\n").contains(remedy), "\(command.log)")
    #expect(access(folder, F_OK) != 0)
    let (unsaved, second) = try await waiting(["--wait", "--json"])
    await unsaved.send(signal: SIGTERM)
    #expect(await unsaved.wait() == 130)
    #expect(unsaved.log.contains("take5 posts show \(second) "), "\(unsaved.log)")

    let worker = try await service.worker()
    let saved = try await Take5Command.run(["posts", "save", id, folder, "--server", service.url])
    #expect(saved.status == 0 && saved.output.contains("post \(id) is ready"), "\(saved)")
    #expect(try Folder.names(in: folder).contains("1.photo.large.jpg"))
    await worker.send(signal: SIGTERM)
    _ = await worker.wait()
    try await service.stop()
  }

  @Test("a post that fails ends a waiting command with status 69, and is named with its state")
  func failing() async throws {
    let (command, id) = try await waiting(["--wait", "--json"])
    var found: String?
    // A post has a job once its file has come.
    try await until {
      let post = try await service.get("/v1/posts/\(id)")
      found = try Self.json(String(decoding: post.body, as: UTF8.self))["job"]?["id"]?.text
      return found != nil
    }
    let job = try #require(found)
    let cancelled = try await Take5Command.run(["jobs", "cancel", job, "--data", service.data])
    #expect(cancelled.status == 0, "\(cancelled)")
    #expect(await command.wait() == 69, "\(command.log)")
    let shown = try await Take5Command.run(["posts", "show", id, "--server", service.url])
    #expect(shown.output.contains("failed"), "\(shown)")
    try await service.stop()
  }

  @Test("a save that fails in the end names the post and the command that continues")
  func unsaved() async throws {
    let folder = "\(service.folder.path)/saved"
    let (command, id) = try await waiting(["--save", folder])
    try Folder.make(folder)
    _ = try Clips.write([1], "saved/1.photo.large.jpg", in: service.folder)
    let worker = try await service.worker()
    #expect(await command.wait() == 74)
    #expect(command.log.contains("already exists; post \(id) is stored\n"), "\(command.log)")
    #expect(command.log.contains("use --force to replace it; to continue: take5 posts save \(id) "), "\(command.log)")
    #expect(try Folder.names(in: folder) == ["1.photo.large.jpg"])
    await worker.send(signal: SIGTERM)
    _ = await worker.wait()
    try await service.stop()
  }

  @Test("a location may have blanks, and the message says what is wrong with one")
  func locations() async throws {
    let valid = try await submit(["marker", "--title", "Here", "--location", " 52.5, 13.4 "])
    #expect(valid.status == 0, "\(valid)")
    #expect(try await service.count("SELECT count(*)::int FROM post WHERE latitude = 52.5 AND longitude = 13.4") == 1)
    for (text, problem) in [
      ("52.5,200", "the longitude from -180 to 180"), ("-91,0", "the latitude must be from -90 to 90"),
      ("52.5", "two numbers are required"), ("52.5,13.4,7", "two numbers are required"),
      ("52.5,,13.4", "two numbers are required"), ("5 2.5,13.4", "two numbers are required"),
    ] {
      let run = try await submit(["marker", "--title", "Here", "--location", text])
      #expect(run.status == 64 && run.errors.contains(problem), "\(text): \(run)")
    }
    try await service.stop()
  }
}

/// `--server` with TLS and with proxies.
@Suite("take5 submit --server", .tags(.process))
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
      ["submit", "post", "--author", "me"] + clips + ["--server", server] + more,
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
      (name, ["--cacert", certificate.path], [name, "subject name matches target", "'127.0.0.1'"]),
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
