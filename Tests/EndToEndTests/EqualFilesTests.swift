import Crypto
import Glibc
import HTTPClient
import HTTPServer
import HTTPTesting
import MediaFixtures
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// A user saves a small picture of the app and posts it again: a source that equals an output, whose row has the content as well.
@Suite("A source that equals an output", .tags(.process), .timeLimit(.minutes(60)))
struct EqualFilesTests {
  private func take5(_ arguments: [String], environment: [String: String] = [:]) async throws -> Take5Command {
    try await Take5Command.run(
      arguments, environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 })
  }

  private func files(of data: String) throws -> Set<String> {
    Set(try Folders.files(below: "\(data)/blobs").map { String($0.suffix(64)) }.filter { !$0.hasSuffix("/store-id") })
  }

  /// Submits a moment and waits until it is ready; returns the bytes of its poster, and its id.
  private func moment(_ service: Service) async throws -> (id: String, poster: [UInt8]) {
    let made = try await service.api().submit(
      "/v1/posts",
      [
        ("post", Array(#"{"author":"ada"}"#.utf8)), ("front", try TemporaryFile.bytes(of: Clips.front.write())),
        ("back", try TemporaryFile.bytes(of: Clips.back.write())),
      ])
    #expect(made["status"]?.text == "ready", "\(service.process.log)")
    let poster = try await service.get(try #require(made["assets", "poster", "url"]?.text))
    return (try #require(made["id"]?.text), poster.body)
  }

  private func submit(_ photo: [UInt8], to service: Service) async throws {
    let response = try await service.api().submit(
      "/v1/posts", [("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", photo)])
    #expect(response["status"]?.text == "ready", "\(response.status)")
  }

  /// Makes a store in which a photo equals the poster of a moment.
  private func submitBoth(_ service: Service, isPhotoFirst: Bool) async throws -> [UInt8] {
    let (id, poster) = try await moment(service)
    if isPhotoFirst {
      // The same clips make the same poster again.
      #expect(try await service.api().delete("/v1/posts/\(id)") == 204)
      #expect(try await take5(["gc", "--released-pause", "0"] + store(service)).status == 0)
      try await submit(poster, to: service)
      #expect(try await moment(service).poster == poster)
    } else {
      try await submit(poster, to: service)
    }
    let both = try await service.count(
      """
      SELECT count(DISTINCT blob.hash)::int FROM blob JOIN asset ON asset.blob = blob.hash
      WHERE role = 'source.photo' AND inline_content IS NOT NULL
      """)
    #expect(both == 1)
    // A first look that is still made has files of its own.
    try await service.waitForJobs()
    return poster
  }

  private func store(_ service: Service) -> [String] { ["--data", service.data] }

  /// Requires that a store is consistent, has the file of the photo, and can make it again.
  private func check(_ arguments: [String], environment: [String: String] = [:]) async throws {
    let verified = try await take5(["verify"] + arguments, environment: environment)
    #expect(verified.status == 0, "\(verified)")
    let made = try await take5(
      ["reprocess", "--local", "--kind", "photo", "--force"] + arguments, environment: environment)
    #expect(made.status == 0, "\(made)")
  }

  @Test(
    "a backup has its file, and a restored store; from the backup of an earlier version, too", arguments: [false, true])
  func backup(isPhotoFirst: Bool) async throws {
    let service = try await Service()
    let poster = try await submitBoth(service, isPhotoFirst: isPhotoFirst)
    let (backup, data) = ("\(service.folder.path)/backup", "\(service.folder.path)/restored")
    let all = try files(of: service.data)
    #expect(all.contains(SHA256.digest(of: poster).hex))
    let made = try await take5(["backup", backup] + store(service))
    #expect(made.status == 0 && made.output.contains("copied \(all.count) blobs"), "\(made)")
    #expect(try files(of: backup) == all)
    try await service.stop()
    let restored = try await take5(["restore", backup, "--data", data])
    #expect(restored.status == 0, "\(restored)")
    #expect(try files(of: data) == all)
    try await check(["--data", data])

    let name = SHA256.digest(of: poster).hex
    #expect(unlink("\(backup)/blobs/\(name.prefix(2))/\(name)") == 0)
    let older = try await take5(["restore", backup, "--data", "\(data)-2"])
    #expect(older.status == 0, "\(older)")
    #expect(try files(of: "\(data)-2") == all)

    // What such a version has restored.
    #expect(unlink("\(data)-2/blobs/\(name.prefix(2))/\(name)") == 0)
    let found = try await take5(["verify", "--data", "\(data)-2"])
    #expect(found.status == 1 && found.output.contains("source_missing"), "\(found)")
    let repaired = try await take5(["verify", "--repair", "--data", "\(data)-2"])
    #expect(repaired.status == 0, "\(repaired)")
    #expect(try files(of: "\(data)-2") == all)
    try await check(["--data", "\(data)-2"])
  }

  @Test("a move to a bucket and back takes its file")
  func move() async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      let service = try await Service()
      let poster = try await submitBoth(service, isPhotoFirst: false)
      try await service.stop()
      let all = try files(of: service.data)
      #expect(all.contains(SHA256.digest(of: poster).hex))
      let access = ["--data", service.data]
      let url = MemoryBucket.url(port: server.port)
      let there = try await take5(["blobs", "move", "--to", url] + access, environment: MemoryBucket.keys)
      #expect(there.status == 0 && there.output.contains("copied \(all.count) of \(all.count) blobs"), "\(there)")
      #expect(Set(bucket.names.map { String($0.suffix(64)) }.filter { $0 != "store-id" }) == all)
      for path in try Folders.files(below: "\(service.data)/blobs") { #expect(unlink(path) == 0) }
      try await check(["--blobs", url] + access, environment: MemoryBucket.keys)

      let back = try await take5(
        ["blobs", "move", "--to", "folder", "--blobs", url] + access, environment: MemoryBucket.keys)
      #expect(back.status == 0, "\(back)")
      #expect(try files(of: service.data).isSuperset(of: all))
      try await check(access)
    }
  }
}
