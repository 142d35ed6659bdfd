import FoundationEssentials
import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

/// `take5 backup` and `take5 restore`, while the service writes.
@Suite("Backups", .tags(.process), .timeLimit(.minutes(60)))
struct BackupTests {
  private static let programs = ["PATH": "/usr/bin:/bin"]

  private func photo(_ service: Service, _ color: (UInt8, UInt8, UInt8)) async throws -> String {
    let response = try await service.api().submit(
      "/v1/posts",
      [
        ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", try StoreCommandTests.photo(color)),
      ])
    #expect(response["status"]?.text == "ready", "\(response.status)")
    return try #require(response["id"]?.text)
  }

  private func take5(_ arguments: [String], environment: [String: String] = [:]) async throws -> Take5Command {
    try await Take5Command.run(arguments, environment: Self.programs.merging(environment) { $1 })
  }

  private func json(_ command: Take5Command) throws -> API.Value {
    try JSONDecoder().decode(API.Value.self, from: Data(command.output.utf8))
  }

  /// Makes a backup that must be complete; returns what it prints.
  @discardableResult
  private func backUp(_ service: Service, to folder: String, _ more: [String] = []) async throws -> API.Value {
    let run = try await take5(["backup", folder, "--data", service.data, "--json"] + more)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    return try json(run)
  }

  /// Starts a backup that stops itself before it copies the first blob, and waits until it has.
  private func stoppedBackup(_ service: Service, to folder: String) async throws -> RunningTake5 {
    let backup = try RunningTake5()
    _ = try await backup.start(
      ["backup", folder, "--data", service.data],
      environment: Self.programs.merging(
        // The first copy takes long enough for a signal.
        ["TAKE5_FAILPOINTS": "blob.stage.before=stop,blob.link.before=pause:1000ms"]) { $1 },
      printsFirstLine: false)
    let process = try #require(await backup.process)
    try await onThread("test-stopped") {
      var information = siginfo_t()
      // Ends: with one wait, unless a signal interrupts it.
      while waitid(P_PID, id_t(process), &information, WSTOPPED | WNOWAIT) < 0 && errno == EINTR {}
    }
    return backup
  }

  private func blobs(of folder: String) throws -> [String] {
    try Folders.files(below: "\(folder)/blobs").filter { !$0.hasSuffix("/store-id") }.sorted()
  }

  private func dumps(in folder: String) throws -> [String] {
    try Folder.names(in: folder).filter { $0.hasSuffix(".dump") }
  }

  private func change(_ path: String, _ old: String, _ new: String) throws {
    let text = String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
    #expect(text.contains(old), "\(text)")
    try Descriptor(writing: path, replacing: true).write(Array(text.replacing(old, with: new).utf8))
  }

  @Test("a backup that is made while the service writes and deletes is restored to a consistent store, which serves it")
  func restored() async throws {
    let service = try await Service(workers: 1)
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    let deleted = try await photo(service, (10, 200, 10))
    let (backup, data) = ("\(service.folder.path)/backup", "\(service.folder.path)/restored")

    // From now on a client submits without a pause.
    let writing = Task {
      var count = 0
      // Ends: by the cancellation of the task.
      while !Task.isCancelled {
        count += 1
        _ = try await photo(service, (UInt8(count % 256), 7, 7))
      }
      return count
    }
    let running = try await stoppedBackup(service, to: backup)
    // A post in the dump is deleted before the copy, and another post is created.
    #expect(try await service.api().delete("/v1/posts/\(deleted)") == 204)
    let later = try await photo(service, (10, 10, 200))
    #expect(try await take5(["gc", "--data", service.data]).output.contains("no blobs are removed until"))
    // Until its end it is no backup, and no other one may begin in its folder.
    let early = try await take5(["restore", backup, "--data", data])
    #expect(early.status == 66 && early.errors.contains("has not ended"), "\(early)")
    let second = try await take5(["backup", backup, "--data", service.data])
    #expect(second.status == 74 && second.errors.contains("another process"), "\(second)")
    await running.send(signal: SIGCONT)
    #expect(await running.wait() == 0, "\(running.log)")
    writing.cancel()
    #expect(try await writing.value > 0)
    // The hold has ended with the backup.
    #expect(try await take5(["gc", "release", "--data", service.data]).status == 1)

    let restored = try await take5(["restore", backup, "--data", data])
    #expect(restored.status == 0 && restored.output.contains("is consistent"), "\(restored)")
    let verified = try await take5(["verify", "--deep", "--data", data])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")

    // A service on the restored store returns the posts of the dump.
    let copy = try RunningTake5()
    let url = try await copy.start([
      "serve", "--listen", "127.0.0.1:0", "--slots", "0", "--data", data, "--log-format", "text",
    ])
    let client = HTTPClient(server: try #require(ServerAddress(url: url), "\(copy.log)"))
    let shown = try await onThread("test-client") { try client.get("/v1/posts/\(moment.id)") }
    let post = try JSON.decode(PostResponse.self, from: shown.body)
    #expect(post.status == .ready)
    let composed = try #require(post.assets[.composed])
    let media = try await onThread("test-client") { try client.get(composed.url) }
    #expect(media.status == 200 && media.body.count == composed.bytes)
    #expect(try await onThread("test-client") { try client.get("/v1/posts/\(deleted)").status } == 200)
    #expect(try await onThread("test-client") { try client.get("/v1/posts/\(later)").status } == 404)
    // What it numbers is above all that the first store has numbered since.
    let numbered = try await take5(
      [
        "database", "--data", data, "--", "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--command",
        "SELECT history_after() > 0",
      ])
    #expect(numbered.status == 0 && numbered.output == "t\n", "\(numbered)")
    await copy.send(signal: SIGTERM)
    _ = await copy.wait()

    // The original store is consistent, and the blobs of the deleted post are collected.
    #expect(try await take5(["gc", "--data", service.data]).status == 0)
    #expect(try await take5(["verify", "--data", service.data]).status == 0)
    try await service.stop()
  }

  @Test("a second backup copies what is new, replaces what is damaged, and removes what the store has no more")
  func repeated() async throws {
    let service = try await Service(workers: 1)
    let deleted = try await photo(service, (10, 200, 10))
    _ = try await photo(service, (200, 10, 10))
    let backup = "\(service.folder.path)/backup"
    let first = try await backUp(service, to: backup)
    let before = try blobs(of: backup)
    #expect(before.count == 2 && first["copied"]?.number == 2 && first["counts"]?["posts"]?.number == 2, "\(first)")
    #expect(try await backUp(service, to: backup)["copied"]?.number == 0)

    #expect(try await service.api().delete("/v1/posts/\(deleted)") == 204)
    _ = try await photo(service, (10, 10, 200))
    #expect(try await take5(["gc", "--data", service.data]).status == 0)
    let second = try await backUp(service, to: backup)
    #expect(second["copied"]?.number == 1 && second["removed"]?.number == 1, "\(second)")
    #expect(try blobs(of: backup).count == 2 && Set(before).intersection(try blobs(of: backup)).count == 1)
    #expect(try dumps(in: backup).count == 1)

    // A byte that has changed in the backup is found by reading, not by the length.
    let damaged = try #require(try blobs(of: backup).first)
    var bytes = try Descriptor(reading: damaged).contents()
    bytes[0] ^= 1
    try Descriptor(writing: damaged, replacing: true).write(bytes)
    #expect(try await backUp(service, to: backup, ["--quick"])["copied"]?.number == 0)
    #expect(try await backUp(service, to: backup)["copied"]?.number == 1)
    bytes[0] ^= 1
    #expect(try Descriptor(reading: damaged).contents() == bytes)

    // What the store has lost, the backup keeps; what neither has is named, and everything else is in the backup.
    let name = String(damaged.dropFirst(backup.count))
    #expect(unlink("\(service.data)\(name)") == 0)
    #expect(try await backUp(service, to: backup)["copied"]?.number == 0)
    #expect(unlink(damaged) == 0)
    let incomplete = try await take5(["backup", backup, "--data", service.data])
    #expect(incomplete.status == 1 && incomplete.output.contains(name.suffix(64)), "\(incomplete)")
    let restored = try await take5(["restore", backup, "--data", "\(service.folder.path)/restored", "--json"])
    #expect(restored.status == 1, "\(restored)")
    #expect(try json(restored)["findings"]?[0]?["code"]?.text == "source_missing")
    try await service.stop()
  }

  @Test("a backup that is killed leaves the former one, or none, and the next one completes it")
  func killed() async throws {
    let service = try await Service(workers: 1)
    _ = try await photo(service, (10, 200, 10))
    let (backup, data) = ("\(service.folder.path)/backup", "\(service.folder.path)/restored")
    func kill(at failpoint: String) async throws {
      let run = try await take5(
        ["backup", backup, "--data", service.data], environment: ["TAKE5_FAILPOINTS": "\(failpoint)=kill"])
      #expect(run.status == nil, "\(run)")
    }
    try await kill(at: "blob.stage.before")
    #expect(try await take5(["restore", backup, "--data", data]).status == 66)
    #expect(access(data, F_OK) != 0)
    try await backUp(service, to: backup)
    let manifest = try Descriptor(reading: "\(backup)/backup.json").contents()
    _ = try await photo(service, (200, 10, 10))
    try await kill(at: "blob.link.before")
    #expect(try Descriptor(reading: "\(backup)/backup.json").contents() == manifest)

    // A signal ends the hold as well as the backup; a kill leaves it until it expires.
    #expect(try await take5(["gc", "release", "--data", service.data]).status == 0)
    let stopped = try await stoppedBackup(service, to: "\(backup)-2")
    await stopped.send(signal: SIGTERM)
    await stopped.send(signal: SIGCONT)
    #expect(await stopped.wait() == 130, "\(stopped.log)")
    let released = try await take5(["gc", "release", "--data", service.data])
    #expect(released.status == 1, "\(released), \(stopped.log)")

    // A restoration that is killed goes on, too.
    let interrupted = try await take5(
      ["restore", backup, "--data", data], environment: ["TAKE5_FAILPOINTS": "blob.link.after=kill"])
    #expect(interrupted.status == nil, "\(interrupted)")
    #expect(try await take5(["jobs", "list", "--data", data]).status == 66)
    let restored = try await take5(["restore", backup, "--data", data, "--json"])
    #expect(restored.status == 0, "\(restored)")
    #expect(try json(restored)["counts"]?["posts"]?.number == 1)
    #expect(try await backUp(service, to: backup)["counts"]?["posts"]?.number == 2)
    try await service.stop()
  }

  @Test("a folder that is no backup of this store is not written to, and a store that exists is not replaced")
  func refused() async throws {
    let service = try await Service(workers: 1)
    _ = try await photo(service, (10, 200, 10))
    let root = service.folder.path
    try Folder.make("\(root)/full")
    try Descriptor(writing: "\(root)/full/letter", replacing: false).write([1])
    #expect(try await take5(["init", "--data", "\(root)/other"]).status == 0)
    try await backUp(service, to: "\(root)/backup")
    for (folder, store) in [("full", service.data), ("data", service.data), ("backup", "\(root)/other")] {
      let names = try Folder.names(in: "\(root)/\(folder)").sorted()
      let run = try await take5(["backup", "\(root)/\(folder)", "--data", store])
      #expect(run.status == 74 && run.errors.contains("\(root)/\(folder) cannot be used"), "\(run)")
      #expect(try Folder.names(in: "\(root)/\(folder)").sorted() == names)
    }
    for inner in ["data/new", "data/blobs/new/"] {
      let run = try await take5(["backup", "\(root)/\(inner)", "--data", service.data])
      #expect(run.status == 74 && run.errors.contains("it is inside of the data folder"), "\(run)")
      #expect(access("\(root)/\(inner)", F_OK) != 0)
    }
    #expect(try await take5(["backup", "\(root)/new", "--data", "\(root)/typo"]).status == 66)
    #expect(access("\(root)/new", F_OK) != 0)

    for data in [service.data, "\(root)/other"] {
      let run = try await take5(["restore", "\(root)/backup", "--data", data])
      #expect(run.status == 65 && run.errors.contains("there is a store in"), "\(run)")
    }
    #expect(try await take5(["restore", "\(root)/full", "--data", "\(root)/restored"]).status == 66)
    // Of another version of take5, or of PostgreSQL.
    let manifest = "\(root)/backup/backup.json"
    for (old, new, status) in [
      (#""schema" : "#, #""schema" : 9"#, Int32(65)), (#""postgres" : "#, #""postgres" : 9"#, 65),
      (#""format" : 1"#, #""format" : 2"#, 74),
    ] {
      try change(manifest, old, new)
      let run = try await take5(["restore", "\(root)/backup", "--data", "\(root)/restored"])
      #expect(run.status == status, "\(run)")
      try change(manifest, new, old)
    }
    // A dump with a changed byte.
    let dump = "\(root)/backup/\(try #require(try dumps(in: "\(root)/backup").first))"
    var bytes = try Descriptor(reading: dump).contents()
    bytes[bytes.count / 2] ^= 1
    try Descriptor(writing: dump, replacing: true).write(bytes)
    let damaged = try await take5(["restore", "\(root)/backup", "--data", "\(root)/restored"])
    #expect(damaged.status == 74 && damaged.errors.contains("is damaged"), "\(damaged)")
    #expect(access("\(root)/restored", F_OK) != 0)
    try await service.stop()
  }

  @Test("a restored key is valid again and is listed, and --revoke-keys revokes all of them")
  func keys() async throws {
    let service = try await Service(workers: 0)
    let root = service.folder.path
    #expect(try await take5(["keys", "create", "stolen", "--data", service.data]).status == 0)
    try await backUp(service, to: "\(root)/backup")
    #expect(try await take5(["keys", "revoke", "1", "--data", service.data]).status == 0)
    try await service.stop()
    let kept = try await take5(["restore", "\(root)/backup", "--data", "\(root)/kept"])
    #expect(kept.status == 0 && kept.output.contains("valid again") && kept.output.contains("  1  stolen  "), "\(kept)")
    let revoked = try await take5(["restore", "\(root)/backup", "--data", "\(root)/revoked", "--revoke-keys"])
    #expect(revoked.status == 0 && revoked.output.contains("all API keys are revoked"), "\(revoked)")
    let listed = try await take5(["keys", "list", "--data", "\(root)/revoked"])
    #expect(listed.output.contains("  revoked ") && !listed.output.contains("  active"), "\(listed)")
  }

  @Test("a store with a database of its own is backed up and restored into an empty database, and into no other one")
  func externalDatabase() async throws {
    try await withDatabase { database in
      let url = ["--database", database.connectionString]
      let service = try await Service(workers: 1, url)
      let post = try await photo(service, (10, 200, 10))
      let backup = "\(service.folder.path)/backup"
      try await backUp(service, to: backup, url)
      try await withDatabase { other in
        let data = "\(service.folder.path)/restored"
        let restored = try await take5(["restore", backup, "--data", data, "--database", other.connectionString])
        #expect(restored.status == 0, "\(restored)")
        let copy = try RunningTake5()
        let address = try await copy.start([
          "serve", "--listen", "127.0.0.1:0", "--slots", "0", "--data", data, "--database", other.connectionString,
        ])
        let client = HTTPClient(server: try #require(ServerAddress(url: address), "\(copy.log)"))
        #expect(try await onThread("test-client") { try client.get("/v1/posts/\(post)").status } == 200)
        await copy.send(signal: SIGTERM)
        _ = await copy.wait()
        let again = try await take5(
          ["restore", backup, "--data", "\(data)-2", "--database", other.connectionString])
        #expect(again.status == 65, "\(again)")
        // Settings of pg_dump's session would become those of other clients.
        let pooled = try await take5(["backup", backup, "--data", service.data, "--pooling", "transaction"] + url)
        #expect(pooled.status == 64 && pooled.errors.contains("--listen-database"), "\(pooled)")
        try await backUp(
          service, to: backup, url + ["--pooling", "transaction", "--listen-database", database.connectionString])
      }
      try await service.stop()
    }
  }

  @Test(
    "blobs of a bucket are backed up, and restored into another one",
    .enabled(if: getenv("TAKE5_TEST_S3") != nil, "TAKE5_TEST_S3 is not set"))
  func bucket() async throws {
    try await withDatabase { database in
      let place = ["--database", database.connectionString, "--blobs", BucketTests.url()]
      let service = try await Service(workers: 1, place, environment: BucketTests.keys())
      let post = try await photo(service, (10, 200, 10))
      let backup = "\(service.folder.path)/backup"
      let made = try await take5(
        ["backup", backup, "--data", service.data] + place, environment: BucketTests.keys())
      #expect(made.status == 0, "\(made)")
      #expect(try blobs(of: backup).count == 1)
      try await service.stop()
      try await withDatabase { other in
        let place = ["--database", other.connectionString, "--blobs", BucketTests.url()]
        let data = "\(service.folder.path)/restored"
        let restored = try await take5(
          ["restore", backup, "--data", data] + place, environment: BucketTests.keys())
        #expect(restored.status == 0, "\(restored)")
        let copy = try await Service(workers: 0, place, environment: BucketTests.keys())
        #expect(try await copy.get("/v1/posts/\(post)").status == 200)
        try await copy.stop()
      }
    }
  }

  @Test(
    "root backs up and restores the store of another user, who owns everything that is written",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func root() async throws {
    let folder = try TemporaryFolder(prefix: "take5-root")
    chmod(folder.path, 0o755)
    let (data, backup) = ("\(folder.path)/data", "\(folder.path)/backup")
    let program = "\(folder.path)/take5"
    try Descriptor(writing: program, replacing: false, mode: 0o755).write(
      try Descriptor(reading: Take5Binary.path).contents())
    try Folder.make(data, mode: 0o700)
    #expect(chown(data, 65534, 65534) == 0)
    func owners(below path: String) throws -> Set<uid_t> {
      Set(
        try (Folders.files(below: path) + [path]).map { path in
          var status = stat()
          guard lstat(path, &status) == 0 else { throw SystemError(call: "lstat", subject: path) }
          return status.st_uid
        })
    }
    let made = try await Take5Command.run(
      ["--reuid=65534", "--regid=65534", "--clear-groups", program, "init", "--data", data],
      program: "/usr/bin/setpriv")
    #expect(made.status == 0, "\(made)")
    // What libpq would look for in root's home: it warns of a file of passwords that is a folder.
    let home = ["HOME": folder.path, "PATH": "/usr/bin:/bin"]
    try Folder.make("\(folder.path)/.pgpass")
    for _ in 0..<2 {
      let run = try await Take5Command.run(["backup", backup, "--data", data], program: program, environment: home)
      #expect(run.status == 0 && run.output.contains("is a complete backup"), "\(run)")
      #expect(!run.errors.contains(".pgpass"), "\(run)")
      #expect(try owners(below: backup) == [65534] && owners(below: data) == [65534])
    }
    #expect(rename(data, "\(data).old") == 0)
    let restored = try await Take5Command.run(
      ["restore", backup, "--data", data], program: program, environment: home)
    #expect(restored.status == 0 && !restored.errors.contains(".pgpass"), "\(restored)")
    #expect(try owners(below: data) == [65534])
    var status = stat()
    #expect(stat(data, &status) == 0 && status.st_mode & 0o777 == 0o700)
    let refused = try await Take5Command.run(["restore", backup, "--data", data], program: program)
    #expect(refused.status == 65, "\(refused)")
  }
}
