import Crypto
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

@Suite("Files of posts in the store", .tags(.process), .timeLimit(.minutes(60)))
struct PostExportTests {
  private let service: Service
  private var folder: String { "\(service.folder.path)/exported" }

  init() async throws { service = try await Service() }

  private func take5(_ arguments: String...) async throws -> Take5Command {
    try await Take5Command.run(arguments + ["--data", service.data])
  }

  private func json(_ command: Take5Command) throws -> [API.Value] {
    try command.output.split(separator: "\n").map { try JSONDecoder().decode(API.Value.self, from: Data($0.utf8)) }
  }

  private func bytes(_ path: String) throws -> [UInt8] { try Descriptor(reading: path).contents() }

  /// Submits a moment, which is processed; returns its id and the paths of its clips.
  private func moment() async throws -> (post: PublicID, front: String, back: String) {
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let post = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    return (post.id, front, back)
  }

  @Test("the files of a post are listed with their hashes, and copied as they are stored, also while no service runs")
  func moments() async throws {
    let (post, front, back) = try await moment()
    let served = try await service.post(post).assets
    let composed = try #require(served[.composed])
    let fetched = try await service.get(composed.url).body
    try await service.stop()

    let listed = try json(try await take5("posts", "files", "\(post)", "--json"))
    let names = listed.compactMap { $0["name"]?.text }
    #expect(names.suffix(2) == ["source.front.mp4", "source.back.mp4"], "\(names)")
    #expect(Set(listed.dropLast(2).compactMap { $0["role"]?.text }) == Set(served.keys.map(\.rawValue)))
    let video = try #require(listed.first { $0["role"]?.text == "composed" })
    #expect(video["sha256"]?.text == SHA256.digest(of: fetched).hex && video["bytes"]?.number == fetched.count)
    #expect(video["is_source"] == .boolean(false) && video["damage"] == nil)
    let table = try await take5("posts", "files", "\(post)")
    #expect(table.output.hasPrefix("FILE ") && table.output.contains("composed.mp4"), "\(table)")

    let exported = try await take5("posts", "export", "\(post)", "--to", folder)
    #expect(exported.status == 0 && exported.output.contains("\(folder)/composed.mp4\n"), "\(exported)")
    #expect(try Set(Folder.names(in: folder)) == Set(names.dropLast(2)))
    #expect(try bytes("\(folder)/composed.mp4") == fetched)
    let again = try await take5("posts", "export", "\(post)", "--to", folder, "--sources")
    #expect(again.status == 74 && again.errors.contains("already exists"), "\(again)")
    #expect(try Set(Folder.names(in: folder)) == Set(names.dropLast(2)))
    let all = try await take5("posts", "export", "\(post)", "--to", "\(folder)2", "--sources", "--json")
    #expect(try all.status == 0 && json(all).compactMap { $0["path"]?.text }.count == names.count, "\(all)")
    #expect(try bytes("\(folder)2/source.front.mp4") == bytes(front))
    #expect(try bytes("\(folder)2/source.back.mp4") == bytes(back))
  }

  @Test("a post with a file that is missing, shortened or changed is not exported, and leaves no folder")
  func damage() async throws {
    let (post, _, _) = try await moment()
    let listed = try json(try await take5("posts", "files", "\(post)", "--json"))
    func path(_ role: String) throws -> String {
      let hash = try #require(listed.first { $0["role"]?.text == role }?["sha256"]?.text)
      return "\(service.data)/blobs/\(hash.prefix(2))/\(hash)"
    }
    let composed = try path("composed")
    let content = try bytes(composed)
    chmod(composed, 0o600)
    for (name, damaged) in [
      ("truncated", Array(content.dropLast())), ("corrupt", content.dropLast() + [~content.last!]),
    ] {
      try Descriptor(writing: composed, replacing: true).write(damaged)
      let refused = try await take5("posts", "export", "\(post)", "--to", folder)
      #expect(refused.status == 74 && refused.errors.contains("composed.mp4 is \(name) in the store"), "\(refused)")
      #expect(refused.errors.contains("take5 verify --repair") && access(folder, F_OK) != 0, "\(refused)")
    }
    try Descriptor(writing: composed, replacing: true).write(content)
    #expect(unlink(try path("source.front")) == 0)
    let source = try await take5("posts", "export", "\(post)", "--to", folder, "--sources")
    #expect(source.status == 74 && source.errors.contains("source.front.mp4 is missing"), "\(source)")
    #expect(source.errors.contains("omit --sources") && access(folder, F_OK) != 0, "\(source)")
    #expect(try await take5("posts", "export", "\(post)", "--to", folder).status == 0)
    try await service.stop()
  }

  @Test("photos have their numbers, images and posts without files are known, and any other id is status 66")
  func others() async throws {
    let api = try service.api()
    let photos = try await api.submit(
      "/v1/posts",
      [
        ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)),
        ("photo", try StoreCommandTests.photo((200, 10, 10))), ("photo", try StoreCommandTests.photo((10, 200, 10))),
      ])
    #expect(photos["status"]?.text == "ready", "\(photos)")
    let post = try #require(photos["id"]?.text)
    let exported = try await take5("posts", "export", post, "--to", folder, "--sources")
    #expect(exported.status == 0, "\(exported)")
    for name in ["1.photo.large.jpg", "2.photo.large.jpg", "1.source.photo.jpg", "2.source.photo.jpg"] {
      #expect(exported.output.contains("\(folder)/\(name)\n"), "\(name): \(exported)")
    }
    let photo = try Clips.write(StoreCommandTests.photo((9, 9, 200)), "photo.jpg", in: service.folder)
    let reaction = try await Take5Command.run([
      "submit", "reaction", post, photo, "--author", "grace", "--wait", "--json", "--server", service.url,
    ])
    let image = try #require(try json(reaction).first?["id"]?.text)
    let files = try await take5("posts", "files", image)
    #expect(files.status == 0 && files.output.contains("\nphoto.small.jpg "), "\(files)")

    let marker = try await api.send("POST", "/v1/posts", #"{"kind":"marker","author":"ada","title":"Here"}"#)
    let text = try #require(marker["id"]?.text)
    #expect(try await take5("posts", "files", text).output == "\(text) has no files\n")
    let nothing = try await take5("posts", "export", text, "--to", "\(folder)2")
    #expect(nothing.status == 0 && nothing.errors.contains("no files") && access("\(folder)2", F_OK) != 0, "\(nothing)")
    let unknown = try await take5("posts", "export", "\(PublicID.now())", "--to", "\(folder)2")
    #expect(unknown.status == 66 && access("\(folder)2", F_OK) != 0, "\(unknown)")
    #expect(try await take5("posts", "files", "\(PublicID.now())").status == 66)
    #expect(try await take5("posts", "files", "no-id").status == 64)
    #expect(try await take5("posts", "export", post).status == 64)
    try await service.stop()
  }
}
