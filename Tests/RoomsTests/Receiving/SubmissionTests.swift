import BoxTesting
import HTTPTesting
import Model
import Platform
import Postgres
import Queue
import Testing

@testable import Kit
@testable import Rooms

@Suite("Submissions of moments", .tags(.database, .network), .timeLimit(.minutes(60)))
struct SubmissionTests {
  static let fullPost = """
    {"kind":"take5","author":"ada","title":"Sunset","caption":"at the lake","visibility":"friends",
     "place":{"id":"p1","name":"Lake","coordinate":{"latitude":52.5,"longitude":13.4}},
     "location":{"latitude":52.51,"longitude":13.41},"captured_at":"2026-11-20T18:30:00Z","foreground":"back"}
    """

  @Test("a moment is stored with its post and its job")
  func moment() async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment(post: Self.fullPost), headers: [("X-Request-Id", "r-1")])
      #expect(response.status == 202)
      let post = response.json
      let id = try #require(post["id"].text)
      #expect(response.headers["location"] == "/v1/posts/\(id)")
      #expect(
        post.names == [
          "id", "kind", "status", "author", "title", "caption", "visibility", "place", "location", "captured_at",
          "created_at", "updated_at", "alternative_text", "window", "offset_seconds", "foreground", "job", "counts",
          "reasons", "assets", "photos", "min_age", "fields",
        ])
      #expect(post["kind"] == .string("take5"))
      #expect(post["status"] == .string("processing"))
      #expect(post["visibility"] == .string("friends"))
      #expect(post["foreground"] == .string("back"))
      #expect(post["captured_at"] == .string("2026-11-20T18:30:00.000Z"))
      #expect(post["place"]["coordinate"]["longitude"] == .number(13.4))
      #expect(post["location"]["latitude"] == .number(52.51))
      #expect(post["reasons"] == .array([]))
      #expect(post["assets"] == .object([:]))

      #expect(try await api.get("/v1/posts/\(id)").json == post)

      let job = try await api.get(try #require(post["job"]["url"].text))
      #expect(job.status == 200)
      #expect(job.json["id"] == post["job"]["id"])
      #expect(job.json["state"] == .string("available"))
      #expect(job.json["progress"] == .number(0))
      #expect(job.json["verdict"] == .null)
      let jobID = try #require(job.json["id"].text.flatMap { PublicID($0) })
      #expect(try await api.pool.run { try JobQueue.find(jobID, $0)?.request } == "r-1")
    }
  }

  @Test("parts are accepted in any order, and absent fields have their defaults")
  func anyOrder() async throws {
    try await RunningAPI.with { api in
      var form = MultipartForm()
      form.add("post", Array(#"{"author":"ada","title":null}"#.utf8))
      form.add("back", filename: "b", boxedClip(seed: 2))
      form.add("front", filename: "f", boxedClip(seed: 1))
      let post = try await api.submit(form).json
      #expect(post["visibility"] == .string("public"))
      #expect(post["foreground"] == .string("front"))
      #expect(post["title"] == .null)
      #expect(post.names.contains("title"))
    }
  }

  @Test(
    "an invalid container gets 422 with the reason, and nothing is stored",
    arguments: [
      ([], "empty_file"),
      (Array("just some text".utf8), "unsupported_container"),
      (Array("#EXTM3U\nhttp://10.0.0.1/secret.ts".utf8), "unsupported_container"),
      (Array("ffconcat version 1.0\nfile /etc/passwd".utf8), "unsupported_container"),
      (boxedClip().dropLast(100), "truncated_container"),
      (fileType("isom") + mediaData, "truncated_container"),
      (fileType("isom") + movie("soun") + mediaData, "no_video_stream"),
    ] as [([UInt8], String)])
  func invalidContainer(bytes: [UInt8], code: String) async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment(back: bytes))
      #expect(response.status == 422)
      #expect(response.headers["content-type"] == "application/problem+json")
      #expect(response.json["type"] == .string("urn:take5:problem:media_rejected"))
      #expect(response.json["reasons"][0]["code"] == .string(code))
      #expect(response.json["reasons"][0]["input"] == .string("back"))
      #expect(response.json["reasons"][1] == .null)
      #expect(response.json["errors"][0]["field"] == .string("back"))
      #expect(try await api.storedCount() == 0)
    }
  }

  /// A clip whose index, of a few hundred bytes, states 2^32 − 1 samples of 2^28 − 1 seconds.
  private static func endlessClip(mediaBytes: Int) -> [UInt8] {
    func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    func table(_ type: String, _ values: UInt32...) -> [UInt8] { box(type, zeros(4), values.flatMap { bigEndian($0) }) }
    let size = bigEndian(UInt16(1920)) + bigEndian(UInt16(1080))
    let entry = box("avc1", zeros(6), [0, 1], zeros(16), size, zeros(50))
    let tables = box(
      "stbl", box("stsd", zeros(4), bigEndian(UInt32(1)), entry), table("stts", 1, .max, (1 << 28) - 1),
      table("stsc", 1, 1, .max, 1), table("stsz", 1, .max), table("stco", 1, 600))
    let media = box(
      "mdia", table("mdhd", 0, 0, 1, .max, 0), box("hdlr", zeros(8), Array("vide".utf8), zeros(12)), box("minf", tables)
    )
    let movie = box(
      "moov", box("mvhd", zeros(12), bigEndian(UInt32(1000)), zeros(84)), box("trak", box("tkhd", zeros(84)), media))
    return fileType("isom") + movie + box("mdat", zeros(mediaBytes))
  }

  @Test(
    "a clip that states billions of years gets 422 while or after it is sent, and the service goes on",
    arguments: [(100, "truncated_container"), (1 << 20, "duration_out_of_range")])
  func endless(mediaBytes: Int, code: String) async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment(back: Self.endlessClip(mediaBytes: mediaBytes)))
      #expect(response.status == 422)
      #expect(response.json["reasons"][0]["code"] == .string(code))
      #expect(response.json["reasons"][0]["input"] == .string("back"))
      #expect(try await api.storedCount() == 0)
      #expect(try await api.submit(.moment()).status == 202)
    }
  }

  @Test("the reasons name both invalid clips")
  func twoInvalidClips() async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment(front: [], back: Array("text".utf8)))
      #expect(response.json["reasons"][0]["input"] == .string("front"))
      #expect(response.json["reasons"][1]["input"] == .string("back"))
    }
  }

  @Test("two equal clips are rejected")
  func sameFileTwice() async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(.moment(front: boxedClip(seed: 1), back: boxedClip(seed: 1)))
      #expect(response.status == 422)
      #expect(response.json["reasons"][0]["code"] == .string("same_file_twice"))
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("a missing part is named in the errors", arguments: ["front", "back", "post"])
  func missingPart(name: String) async throws {
    try await RunningAPI.with { api in
      var form = MultipartForm()
      for part in ["front", "back", "post"] where part != name {
        form.add(part, part == "post" ? Array(#"{"author":"a"}"#.utf8) : boxedClip(seed: part == "front" ? 1 : 2))
      }
      let response = try await api.submit(form)
      #expect(response.status == 400)
      #expect(response.json["type"] == .string("urn:take5:problem:missing_part"))
      #expect(response.json["errors"][0]["field"] == .string(name == "post" ? "author" : name))
      #expect(response.json["remedy"].text != nil)
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("unknown and repeated parts are named in the errors")
  func surplusParts() async throws {
    try await RunningAPI.with { api in
      var unknown = MultipartForm.moment()
      unknown.add("side", boxedClip(seed: 3))
      let extra = try await api.submit(unknown)
      #expect(extra.status == 400)
      #expect(extra.json["type"] == .string("urn:take5:problem:unknown_part"))
      #expect(extra.json["errors"][0]["field"] == .string("side"))

      var repeated = MultipartForm.moment()
      repeated.add("front", boxedClip(seed: 3))
      let twice = try await api.submit(repeated)
      #expect(twice.status == 400)
      #expect(twice.json["type"] == .string("urn:take5:problem:repeated_part"))
      #expect(twice.json["errors"][0]["field"] == .string("front"))
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("malformed and invalid posts are refused")
  func invalidPost() async throws {
    try await RunningAPI.with { api in
      let malformed = try await api.submit(.moment(post: "{author"))
      #expect(malformed.status == 400)
      #expect(malformed.json["type"] == .string("urn:take5:problem:malformed_json"))
      let invalid = try await api.submit(.moment(post: #"{"kind":"film","colour":1}"#))
      #expect(invalid.status == 400)
      #expect(invalid.json["errors"][0]["field"] == .string("post.kind"))
      #expect(invalid.json["errors"][1]["field"] == .string("post.author"))
      #expect(invalid.json["errors"][2]["field"] == .string("post.colour"))
    }
  }

  @Test("a body that is not a form is refused")
  func notAForm() async throws {
    try await RunningAPI.with { api in
      let json = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "text/json")], body: Array("{}".utf8))
      #expect(json.status == 415)
      let broken = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "multipart/form-data; boundary=x")],
        body: Array("--x\r\nnonsense".utf8))
      #expect(broken.status == 400)
      #expect(broken.json["type"] == .string("urn:take5:problem:malformed_form"))
    }
  }

  @Test("a clip beyond the limit gets 413, and nothing is stored")
  func tooLarge() async throws {
    try await RunningAPI.with(.init(clipBytes: 100_000)) { api in
      #expect(try await api.submit(.moment(front: boxedClip(bytes: 100_000, seed: 1))).status == 202)
      let stored = try await api.storedCount()
      let large = try await api.submit(.moment(front: boxedClip(bytes: 100_001, seed: 3)))
      #expect(large.status == 413)
      #expect(large.json["type"] == .string("urn:take5:problem:part_too_large"))
      #expect(large.json["errors"][0]["field"] == .string("front"))
      #expect(large.json["reasons"][0]["code"] == .string("too_large"))
      let huge = try await HTTPTesting.exchange(
        "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
          + "Content-Length: 9000000000\r\n\r\n", port: api.port)
      #expect(huge.status == 413)
      #expect(try await api.storedCount() == stored)
    }
  }

  @Test("an aborted upload stores nothing")
  func abortedUpload() async throws {
    let stored = try await RunningAPI.with { api in
      let port = api.port
      try await onThread("client") {
        let form = MultipartForm.moment(front: boxedClip(bytes: 500_000, seed: 1))
        var connection = try ClientConnection(port: port)
        try connection.send(
          "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(form.contentType)\r\n"
            + "Content-Length: \(form.bytes.count)\r\nExpect: 100-continue\r\n\r\n")
        _ = try connection.receiveHead()
        try connection.send(Array(form.bytes.prefix(300_000)))
        connection.reset()
      }
      // The next submission is stored.
      #expect(try await api.submit(.moment()).status == 202)
      return try await api.storedCount()
    }
    // One row of the post, two rows and two files of the blobs.
    #expect(stored == 5)
  }

  @Test("fifty concurrent uploads all succeed")
  func concurrentUploads() async throws {
    try await RunningAPI.with { api in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<50 {
          group.addTask {
            let front = boxedClip(bytes: 300_000, seed: UInt8(number))
            return try await api.submit(.moment(front: front, back: boxedClip(bytes: 300_000, seed: 255))).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [Int](repeating: 202, count: 50))
      // Fifty posts; the blobs of fifty front clips and one shared back clip, as rows and as files.
      #expect(try await api.storedCount() == 50 + 51 + 51)
    }
  }
}
