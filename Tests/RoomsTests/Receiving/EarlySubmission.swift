import BlobTesting
import BoxTesting
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs
@testable import Kit
@testable import Rooms

/// A submission of two clips whose uploads have no bytes yet.
struct EarlySubmission {
  static let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]

  let clips: [[UInt8]]
  /// The paths of the uploads, of the front clip and the back clip.
  let paths: [String]
  let response: ClientResponse

  /// The id of the post.
  var post: String { get throws { try #require(response.json["id"].text) } }

  /// Creates the uploads and submits the post.
  init(_ api: RunningAPI, clips: [[UInt8]] = Self.clips, key: String = "one") async throws {
    self.clips = clips
    let paths = try await Self.uploads(of: clips, api)
    self.paths = paths
    response = try await Self.submit(paths, key: key, api)
  }

  /// Sends all bytes.
  func send(_ api: RunningAPI) async throws {
    for (clip, path) in zip(clips, paths) {
      #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
    }
  }

  func expectFinished(_ api: RunningAPI) async throws {
    for (clip, path) in zip(clips, paths) { try await api.expectFinished(path, clip.count) }
  }

  /// Lets the database be as before the commit that gave the post the bytes of its uploads.
  func loseProcessing(_ api: RunningAPI) async throws {
    let post = try post
    try await api.pool.run { session in
      let awaited = paths.enumerated().map { index, path in
        "('\(Self.id(path))', (SELECT id FROM post), '\(index == 0 ? "front" : "back")', \(index))"
      }
      try session.executeScript(
        """
        SET session_replication_role = replica;
        UPDATE post SET job = NULL, source_set_id = NULL WHERE public_id = '\(post)';
        DELETE FROM job; DELETE FROM asset; DELETE FROM asset_set; DELETE FROM blob;
        INSERT INTO awaited_upload (upload, post_id, part, place) VALUES \(awaited.joined(separator: ", "));
        RESET session_replication_role
        """, name: "a lost commit")
    }
  }

  static func uploads(
    of clips: [[UInt8]], _ api: RunningAPI, headers: [(String, String)] = []
  ) async throws -> [String] {
    var paths: [String] = []
    for clip in clips { paths.append(try await create(clip, api, headers: headers)) }
    return paths
  }

  static func create(_ bytes: [UInt8], _ api: RunningAPI, headers: [(String, String)] = []) async throws
    -> String
  {
    try UploadTests.path(try await UploadTests.create(bytes.count, api, headers: UploadTests.tus + headers))
  }

  /// Submits a moment that names two uploads by their paths.
  static func submit(_ paths: [String], key: String = "one", _ api: RunningAPI) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: api.port,
      headers: [("Content-Type", "application/json"), ("Idempotency-Key", key)],
      body: Array(
        #"{"kind":"take5","author":"ada","front":{"upload":"\#(id(paths[0]))"},"back":{"upload":"\#(id(paths[1]))"}}"#
          .utf8))
  }

  static func id(_ path: String) -> String { String(path.dropFirst("/v1/uploads/".count)) }
}

extension RunningAPI {
  /// The number of jobs that make outputs.
  func mediaJobs() async throws -> Int {
    try await pool.run { session in
      try session.execute("SELECT count(*) FROM job WHERE kind <> 'look'").single().get(0)
    }
  }

  /// Reads a post until it has what the test waits for.
  func read(_ post: String, until isDone: (JSONValue) -> Bool) async throws -> JSONValue {
    var json = try await get("/v1/posts/\(post)").json
    try await until {
      if isDone(json) { return true }
      json = try await get("/v1/posts/\(post)").json
      return false
    }
    return json
  }

  /// Waits until the post has taken over the bytes of an upload, and expects that it is finished for its owner.
  func expectFinished(_ path: String, _ length: Int? = nil) async throws {
    let upload = try #require(PublicID(EarlySubmission.id(path)))
    try await until { try blobs.uploads().open(upload) == nil }
    let json = try await get(path).json
    #expect(json["is_whole"] == .boolean(true) && json["offset"] == json["length"])
    if let length { #expect(json["length"] == .number(Double(length))) }
  }
}

extension RunningAPI.Setting {
  /// A service whose blob store calls a test.
  static func observing(_ observe: @escaping @Sendable (inout ObservedBlobStore) -> Void) -> Self {
    var setting = Self()
    setting.wrap = { base in
      guard let base = base as? any InspectableBlobStore else { return base }
      var blobs = ObservedBlobStore(base)
      observe(&blobs)
      return blobs
    }
    return setting
  }
}
