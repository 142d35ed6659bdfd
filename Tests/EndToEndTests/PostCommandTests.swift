import FoundationEssentials
import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("take5 posts", .tags(.process), .timeLimit(.minutes(60)))
struct PostCommandTests {
  private let service: Service
  private let photo: String

  init() async throws {
    service = try await Service()
    photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: service.folder)
  }

  private func take5(_ arguments: [String]) async throws -> Take5Command {
    try await Take5Command.run(arguments + ["--server", service.url], in: service.folder.path)
  }

  /// Submits something; returns its id.
  private func submitted(_ arguments: [String], status: Int32 = 0) async throws -> String {
    let run = try await take5(["submit"] + arguments.withAuthor + ["--json"])
    #expect(run.status == status, "\(arguments): \(run)")
    return try #require(try JSONDecoder().decode(API.Value.self, from: Data(run.output.utf8))["id"]?.text)
  }

  private func ids(_ arguments: [String]) async throws -> [String] {
    let run = try await take5(["posts", "list", "--json"] + arguments)
    #expect(run.status == 0, "\(arguments): \(run)")
    return try run.output.split(separator: "\n").compactMap { line in
      try JSONDecoder().decode(API.Value.self, from: Data(line.utf8))["id"]?.text
    }
  }

  @Test("posts are listed newest first, of any status and visibility, and by filters")
  func list() async throws {
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let none = try await take5(["posts", "list"])
    #expect(none.status == 0 && none.output == "no posts found\n")
    let rejected = try await submitted(["post", back, back, "--author", "ada"], status: 65)
    let ready = try await submitted(["photo", photo, "--author", "grace & co", "--visibility", "private", "--wait"])
    let text = try await submitted(["marker", "--title", "Here", "--author", "ada", "--visibility", "friends"])
    #expect(try await ids([]) == [text, ready, rejected])
    for (filter, expected) in [
      (["--author", "ada"], [text, rejected]), (["--author", "grace & co"], [ready]), (["--kind", "marker"], [text]),
      (["--status", "rejected,failed"], [rejected]), (["--status", "processing"], []),
      (["--limit", "2"], [text, ready]),
      (["--created-after", "1h"], [text, ready, rejected]), (["--created-before", "1h"], []),
    ] {
      #expect(try await ids(filter) == expected, "\(filter)")
    }
    #expect(try await !take5(["posts", "list", "--json"]).output.contains("decisions"))
    let table = try await take5(["posts", "list"]).output.split(separator: "\n")
    #expect(table.count == 4 && table[0].hasPrefix("POST "))
    #expect(table[3].contains(rejected) && table[3].hasSuffix("same_file_twice"), "\(table)")
    for wrong in [["--status", "lost"], ["--kind", "video"], ["--limit", "0"], ["--created-after", "soon"]] {
      #expect(try await take5(["posts", "list"] + wrong).status == 64, "\(wrong)")
    }
    try await service.stop()
  }

  @Test("a list is read in as many pages as its limit needs")
  func pages() async throws {
    let api = try service.api()
    var posts: [String] = []
    for number in 0..<103 {
      let post = try await api.send("POST", "/v1/posts", #"{"kind":"marker","author":"ada","title":"\#(number)"}"#)
      posts.insert(try #require(post["id"]?.text), at: 0)
    }
    #expect(try await ids(["--limit", "102"]) == Array(posts.prefix(102)))
    #expect(try await ids(["--limit", "1000"]) == posts)
    #expect(try await ids([]) == Array(posts.prefix(20)))
    try await service.stop()
  }

  @Test("'show' says why a post was rejected and what helps, before and after its files were decoded")
  func show() async throws {
    let short = try Clips.write(MarkedClip(.red, seconds: 4, tone: .init(440)), "short.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let arrival = try await take5(["posts", "show", submitted(["post", back, back], status: 65)])
    #expect(arrival.status == 0 && arrival.output.contains(" is rejected\n"), "\(arrival)")
    #expect(arrival.output.contains("same_file_twice: ") && arrival.output.contains("submit the clip of each camera"))
    #expect(!arrival.output.contains("decisions:"), "\(arrival)")

    let post = try await submitted(
      ["post", short, back, "--author", "ada", "--caption", "Dusk", "--wait"], status: 65)
    let decoded = try await take5(["posts", "show", post])
    for text in [
      "post \(post) is rejected", "take5", "ada", "Dusk", "front: duration_out_of_range: ", "Film the moment again.",
      "decisions:",
    ] {
      #expect(decoded.status == 0 && decoded.output.contains(text), "\(text): \(decoded)")
    }
    let json = try JSONDecoder().decode(
      API.Value.self, from: Data(try await take5(["posts", "show", post, "--json"]).output.utf8))
    #expect(json["id"]?.text == post && json["status"]?.text == "rejected" && json["author"]?.text == "ada")
    #expect(json["reasons"]?.items.isEmpty == false && json["decisions"]?.items.isEmpty == false)
    try await service.stop()
  }

  @Test("'show' and 'save' know images, and posts without media; an unknown id is status 66")
  func others() async throws {
    let text = try await submitted(["marker", "--title", "Here"])
    let reaction = try await submitted(["reaction", text, photo, "--author", "grace", "--wait"])
    let shown = try await take5(["posts", "show", reaction])
    #expect(shown.status == 0 && shown.output.contains("image \(reaction) is ready"), "\(shown)")
    #expect(shown.output.contains("\(service.url)/v1/media/"), "\(shown)")
    let folder = "\(service.folder.path)/saved"
    let saved = try await take5(["posts", "save", reaction, folder])
    #expect(saved.status == 0 && saved.output.contains("\(folder)/photo.small.jpg"), "\(saved)")
    let again = try await take5(["posts", "save", reaction, folder])
    #expect(again.status == 74 && again.errors.contains("already exists\n"), "\(again)")
    #expect(try await take5(["posts", "save", reaction, folder, "--force"]).status == 0)

    let nothing = try await take5(["posts", "save", text, "\(service.folder.path)/nothing"])
    #expect(nothing.status == 0 && nothing.errors.contains("has no media to save"), "\(nothing)")
    #expect(access("\(service.folder.path)/nothing", F_OK) != 0)
    for command in [["posts", "show"], ["posts", "save"]] {
      let operands = command == ["posts", "save"] ? ["dir"] : []
      let unknown = try await take5(command + ["\(PublicID.now())"] + operands)
      #expect(unknown.status == 66 && unknown.errors.contains("posts list"), "\(unknown)")
      #expect(try await take5(command + ["no-id"] + operands).status == 64)
    }
    #expect(access("\(service.folder.path)/dir", F_OK) != 0)
    try await service.stop()
  }
}
