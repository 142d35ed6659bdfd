import BoxTesting
import FoundationEssentials
import Glibc
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("Exports", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ExportTests {
  @Test("the archive has everything of the user, and nothing of others, for other programs")
  func archive() async throws {
    try await RunningAPI.with { api in
      let front = boxedClip(seed: 7)
      let post = try #require(
        try await api.submit(.moment(front: front, post: #"{"author":"ada","caption":"Dusk","visibility":"private"}"#))
          .json["id"].text)
      let fixture = try await AccessFixture(api, visibility: .friends)
      let others = try await api.insertPost(by: "bob")
      try await api.comment(on: others, by: "ada")
      let profile = #"{"user_name":"ada","email":"ada@example.org"}"#
      #expect(try await UserClient.send("PUT", "/v1/users/ada", [], profile, api).status == 200)
      #expect(try await UserClient.send("PUT", "/v1/users/ada/likes/\(others)", [], nil, api).status == 200)
      let response = try await api.get("/v1/users/ada/export")
      #expect(response.status == 200 && response.headers["content-type"] == "application/zip")
      let folder = try TemporaryFolder()
      let path = "\(folder.path)/export.zip"
      try Descriptor(writing: path, replacing: true).write(response.body)
      // Another program reads the archive and checks each sum.
      let unpacked = try await Self.python(
        "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])",
        path, folder.path)
      #expect(unpacked == 0)
      func json(_ name: String) throws -> JSONValue {
        let bytes = try Descriptor(reading: "\(folder.path)/\(name)").contents()
        return try JSONValue(text: bytes)
      }
      #expect(try json("profile.json")["email"] == .string("ada@example.org"))
      let relations = try json("relations/1.json").elements
      #expect(relations.contains { $0["kind"].text == "like" && $0["target"].text == "\(others)" })
      let posts = try json("posts/1.json").elements
      #expect(Set(posts.compactMap { $0["id"].text }) == [post, "\(fixture.post)"])
      let moment = try #require(posts.first { $0["id"].text == post })
      #expect(moment["caption"] == .string("Dusk") && moment["visibility"] == .string("private"))
      let file = try #require(moment["files"].elements.first { $0["role"].text == "source.front" }?["path"].text)
      #expect(try Descriptor(reading: "\(folder.path)/\(file)").contents() == front)
      let images = try json("images/1.json").elements
      #expect(Set(images.compactMap { $0["kind"].text }) == ["reaction", "profile", "itinerary", "place"])
      let comments = try json("comments/1.json").elements
      #expect(comments.allSatisfy { $0["author"].text == "ada" } && comments.count == 4)
      #expect(comments.compactMap { $0["place"].text } == [fixture.place])
      #expect(comments.compactMap { $0["collection"].text } == ["\(fixture.collection)"])
      #expect(try json("collections/1.json").elements.map { $0["name"].text } == ["Trip"])
      #expect(try json("notes/1.json").elements.map { $0["text"].text } == ["Mine"])
      #expect(try json("ratings/1.json").elements.map { $0["rating"] } == [.number(4)])
      let devices = try json("devices/1.json").elements
      #expect(devices.count == 1 && devices[0]["token"].text?.hasPrefix("…") == true)
      #expect(access("\(folder.path)/missing.json", F_OK) != 0)
    }
  }

  @Test("a file that is missing is named, and the rest is complete")
  func missing() async throws {
    try await RunningAPI.with { api in
      let post = try #require(try await api.submit(.moment()).json["id"].text)
      let files = try Folder.names(in: api.blobFolder).filter { $0 != "store-id" }
      for folder in files {
        for name in try Folder.names(in: "\(api.blobFolder)/\(folder)") {
          unlink("\(api.blobFolder)/\(folder)/\(name)")
        }
      }
      let folder = try TemporaryFolder()
      try Descriptor(writing: "\(folder.path)/export.zip", replacing: true).write(
        try await api.get("/v1/users/ada/export").body)
      let checked = try await Self.python(
        "import sys, zipfile, json; z = zipfile.ZipFile(sys.argv[1]); m = json.loads(z.read('missing.json')); "
          + "assert len(m) == 2 and sys.argv[2] in m[0]", "\(folder.path)/export.zip", post)
      #expect(checked == 0)
    }
  }

  @Test("without the storage an archive ends early, and names no file as missing")
  func outage() async throws {
    try await RunningAPI.with { api in
      let submitted = try await api.submit(.moment())
      #expect(submitted.status == 202)
      let away = "\(api.blobFolder)-away"
      #expect(rename(api.blobFolder, away) == 0)
      await #expect(throws: (any Error).self) { try await api.get("/v1/users/ada/export") }
      #expect(rename(away, api.blobFolder) == 0)
      #expect(try await api.get("/v1/users/ada/export").status == 200)
    }
  }

  /// Returns the status with which a program of Python ends.
  static func python(_ program: String, _ arguments: String...) async throws -> Int32? {
    try await onThread("python") {
      let child = try ChildProcess(
        ChildProcess.Configuration(path: "/usr/bin/python3", arguments: ["-c", program] + arguments))
      guard case .exited(let status) = child.wait() else { return nil }
      return status
    }
  }
}
