import Crypto
import FoundationEssentials
import Glibc
import Model
import Platform
import PostgresTesting
import Testing

@testable import Blobs

@Suite("Files that are sent in parts")
struct UploadFolderTests {
  private let folder: TemporaryFolder
  private let uploads: UploadFolder

  init() throws {
    folder = try TemporaryFolder()
    uploads = try FolderBlobStore(folder: folder.path).uploads()
  }

  private func create(of user: String? = nil, expiring: Date = .distantFuture) throws -> UploadRecord {
    let record = UploadRecord(user: user, length: nil, metadata: nil, createdAt: .now, expiresAt: expiring)
    try uploads.create(record)
    return record
  }

  private func append(_ text: String, at offset: Int64, to file: UploadFile) throws -> Bool {
    try Array(text.utf8).withUnsafeBytes { try file.append($0, at: offset) }
  }

  @Test("two writers never mix their bytes, and nothing is appended to a whole file")
  func writers() throws {
    let record = try create()
    let (one, other) = (try #require(try uploads.open(record.id)), try #require(try uploads.open(record.id)))
    #expect(try append("abc", at: 0, to: one))
    #expect(try !append("xyz", at: 0, to: other))
    #expect(try append("de", at: 3, to: other))
    #expect(try !append("f", at: 3, to: one))
    #expect(try !one.complete(at: 3))
    #expect(try one.complete(at: 5))
    #expect(try !append("f", at: 5, to: other))
    #expect(try other.synchronizedState() == UploadFile.State(offset: 5, isWhole: true))
    // Opened again, as after a restart.
    let again = try #require(try uploads.open(record.id))
    #expect(try !append("f", at: 5, to: again))
    #expect(try again.sealed(hash: nil).hash == SHA256.digest(of: Array("abcde".utf8)))
  }

  @Test("a removal meets a change of the record without an error: the change comes before it, or finds nothing")
  func removal() async throws {
    for _ in 0..<200 {
      let record = try create()
      async let change = onThread("change") { [uploads] in
        try uploads.update(record.id) { $0.awaited = .init(post: record.id, part: "front") }
      }
      async let removal = onThread("removal") { [uploads] in try uploads.remove(record.id) }
      _ = try await change
      #expect(try await removal)
      #expect(try uploads.record(record.id) == nil && uploads.open(record.id) == nil)
    }
    #expect(try uploads.all().isEmpty)
  }

  @Test(
    "uploads in another folder are taken, also after an interruption, and a link leads to them from there",
    arguments: [nil, "taken"])
  func taking(_ link: String?) throws {
    let (half, whole) = (try create(), try create())
    let partial = try #require(try uploads.open(half.id))
    #expect(try append("ab", at: 0, to: partial))
    let file = try #require(try uploads.open(whole.id))
    #expect(try append("abc", at: 0, to: file) && file.complete(at: 3))
    let store = try FolderBlobStore(folder: folder.path)
    let (former, now) = ("\(folder.path)/uploads", "\(folder.path)/taken")
    let taken = UploadFolder(of: store, in: now)
    // A call that was killed had moved the bytes of one, and not its record.
    try Folder.make(now)
    #expect(rename("\(former)/\(half.id)", "\(now)/\(half.id)") == 0)
    for _ in 0..<2 { try taken.take(from: former, leaving: link) }
    #expect(try Set(taken.all()) == [half.id, whole.id])
    #expect(try taken.record(half.id) != nil && taken.record(whole.id) != nil)
    let (again, complete) = (try #require(try taken.open(half.id)), try #require(try taken.open(whole.id)))
    #expect(try append("c", at: 2, to: again))
    #expect(try complete.synchronizedState() == UploadFile.State(offset: 3, isWhole: true))
    var status = stat()
    #expect(lstat(former, &status) == 0 && (status.st_mode & S_IFMT == S_IFLNK) == (link != nil))
    // What has them in the former place finds them, or nothing.
    #expect(try Set(uploads.all()) == (link == nil ? [] : [half.id, whole.id]))
    try taken.take(from: now)
    #expect(try Set(taken.all()) == [half.id, whole.id])
  }

  @Test("no link to a wrong place is left in a former folder that is on another disk, behind a link")
  func takingFromAnotherDisk() throws {
    let record = try create()
    let (disk, former, now) = ("\(folder.path)/disk", "\(folder.path)/cache", "\(folder.path)/uploads")
    for path in [disk, "\(disk)/cache"] { try Folder.make(path) }
    #expect(rename(now, "\(disk)/cache/uploads") == 0)
    #expect(symlink("\(disk)/cache", former) == 0)
    for _ in 0..<2 { try uploads.take(from: "\(former)/uploads", leaving: "../uploads") }
    #expect(try uploads.all() == [record.id])
    var status = stat()
    #expect(lstat("\(disk)/cache/uploads", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR)
  }

  /// A folder on another file system than those of the tests; nil: this machine has one alone.
  private static let elsewhere: String? = {
    guard let folder = try? TemporaryFolder() else { return nil }
    folder.keepUntilExit()
    let own = FolderBlobStore.status(folder.path)?.st_dev
    return ["/dev/shm", "/tmp", "/var/tmp"].first { path in
      FolderBlobStore.status(path)?.st_dev != own && access(path, W_OK) == 0
    }
  }()

  /// Where a call was interrupted that copies an upload to another file system.
  enum Interruption: CaseIterable {
    case never
    /// A part of the copy has another name.
    case beforeName
    /// The copy has its name, and its client has appended to it.
    case beforeRemoval
  }

  @Test(
    "uploads on another file system are copied whole, also after an interruption, and what is copied is not copied again",
    .enabled(if: UploadFolderTests.elsewhere != nil), arguments: Interruption.allCases)
  func takingFromAnotherFileSystem(_ interruption: Interruption) throws {
    let (half, whole) = (try create(), try create())
    let partial = try #require(try uploads.open(half.id))
    #expect(try append("ab", at: 0, to: partial))
    let file = try #require(try uploads.open(whole.id))
    #expect(try append("abc", at: 0, to: file) && file.complete(at: 3))
    let other = "\(try #require(Self.elsewhere))/take5-uploads-\(half.id)"
    try Folder.make(other)
    defer { do { try Folder.remove(other) } catch { Issue.record(error) } }
    let taken = UploadFolder(of: try FolderBlobStore(folder: folder.path), in: other)
    let former = "\(folder.path)/uploads"
    func leave(_ text: String, _ name: String, mode: mode_t) throws {
      try Descriptor(writing: "\(other)/\(name)", replacing: false, mode: 0o640).write(Array(text.utf8))
      #expect(chmod("\(other)/\(name)", mode) == 0)
    }
    switch interruption {
    case .never: break
    case .beforeName: try leave("a", ".\(whole.id)", mode: 0o440)
    case .beforeRemoval: try leave("abcd", "\(half.id)", mode: 0o640)
    }
    let changed = try #require(FolderBlobStore.status("\(former)/\(whole.id)")).st_mtim
    for _ in 0..<2 { try taken.take(from: former) }
    #expect(try Folder.names(in: former).isEmpty)
    let names = [half.id, whole.id].flatMap { ["\($0)", "\($0).json"] }
    #expect(try Folder.names(in: other).sorted() == names.sorted())
    #expect(try taken.record(half.id)?.id == half.id && taken.record(whole.id)?.id == whole.id)
    let (again, complete) = (try #require(try taken.open(half.id)), try #require(try taken.open(whole.id)))
    let length: Int64 = interruption == .beforeRemoval ? 4 : 2
    #expect(try again.synchronizedState() == UploadFile.State(offset: length, isWhole: false))
    #expect(try append("e", at: length, to: again))
    #expect(try complete.synchronizedState() == UploadFile.State(offset: 3, isWhole: true))
    #expect(FolderBlobStore.status("\(other)/\(whole.id)")?.st_mtim.tv_sec == changed.tv_sec)
  }

  @Test(
    "two processes that take the uploads of another file system at a time lose nothing of them",
    .enabled(if: UploadFolderTests.elsewhere != nil))
  func takingTogether() async throws {
    let records = try (0..<20).map { _ in try create() }
    let text = String(repeating: "take5", count: 200_000)
    for record in records {
      let file = try #require(try uploads.open(record.id))
      #expect(try append(text, at: 0, to: file))
    }
    let other = "\(try #require(Self.elsewhere))/take5-uploads-\(records[0].id)"
    try Folder.make(other)
    defer { do { try Folder.remove(other) } catch { Issue.record(error) } }
    let taken = UploadFolder(of: try FolderBlobStore(folder: folder.path), in: other)
    let former = "\(folder.path)/uploads"
    async let first: Void = onThread("first") { try taken.take(from: former) }
    async let second: Void = onThread("second") { try taken.take(from: former) }
    _ = try await (first, second)
    #expect(try Folder.names(in: former).isEmpty)
    for record in records {
      #expect(try taken.record(record.id)?.id == record.id)
      #expect(try Descriptor(reading: "\(other)/\(record.id)").contents() == Array(text.utf8))
    }
  }

  @Test("a published upload is a blob that survives the upload")
  func publishing() throws {
    let store = try FolderBlobStore(folder: folder.path)
    let record = try create()
    let file = try #require(try uploads.open(record.id))
    #expect(try append("abc", at: 0, to: file))
    #expect(try file.complete(at: 3))
    try store.publish(file.sealed(hash: nil))
    #expect(try uploads.open(record.id) != nil)
    #expect(try uploads.remove(record.id))
    #expect(try !uploads.remove(record.id))
    #expect(try uploads.open(record.id) == nil && uploads.record(record.id) == nil)
    #expect(try store.open(SHA256.digest(of: Array("abc".utf8))).contents() == Array("abc".utf8))
    // Neither the folder nor a file in it is one that no blob store has made.
    #expect(try (0..<store.shards).allSatisfy { try store.listing(ofShard: $0).foreign.isEmpty })
  }

  @Test("an upload that has replaced the damaged file of its blob is removed while the blob is still referred to")
  func replacing() throws {
    let store = try FolderBlobStore(folder: folder.path)
    let record = try create()
    let file = try #require(try uploads.open(record.id))
    #expect(try append("abc", at: 0, to: file))
    #expect(try file.complete(at: 3))
    let blob = try file.sealed(hash: nil)
    try store.publish(blob)
    try store.publish(blob, replacing: true)
    // What removes it waits for the lock.
    let again = try Descriptor(reading: try #require(blob.name).path)
    #expect(try again.lock(waiting: false) == .locked)
    withExtendedLifetime(blob) {}
  }

  @Test("expired uploads are removed, also without a record, and so are a deleted user's")
  func removing() throws {
    let expired = try create(expiring: .now.addingTimeInterval(-1))
    let kept = try create(of: "ada")
    let other = try create(of: "bob")
    // A process ended between the file and the record, a day ago and just now.
    var random = SystemRandomNumberGenerator()
    let (old, young) = (PublicID(milliseconds: 1_700_000_000_000, random: &random), PublicID.now())
    for id in [old, young] {
      #expect(close(open("\(folder.path)/uploads/\(id)", O_CREAT | O_WRONLY, 0o640)) == 0)
    }
    #expect(try uploads.removeExpired(now: .now) == 2)
    #expect(try Set(uploads.all()) == [kept.id, other.id, young])
    #expect(try uploads.record(expired.id) == nil)
    try uploads.removeAll(of: "ada")
    #expect(try Set(uploads.all()) == [other.id, young])
  }

  @Test("an upload with a damaged record is one without a record, and does not keep others from being removed")
  func damaged() throws {
    var random = SystemRandomNumberGenerator()
    let old = UploadRecord(
      id: PublicID(milliseconds: 1_700_000_000_000, random: &random), user: "ada", length: nil, metadata: nil,
      createdAt: .now, expiresAt: .distantFuture)
    try uploads.create(old)
    let (young, expired, adas) = (
      try create(of: "ada"), try create(expiring: .now.addingTimeInterval(-1)), try create(of: "ada")
    )
    for (id, text) in [(old.id, "{"), (young.id, "")] {
      try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/uploads/\(id).json"))
      #expect(try uploads.record(id) == nil)
      #expect(try uploads.update(id) { $0.length = 5 } == nil)
    }
    // Without the file, the record alone is nothing that can go on.
    let orphan = try create()
    #expect(unlink("\(folder.path)/uploads/\(orphan.id)") == 0)
    #expect(try uploads.open(orphan.id) == nil && uploads.update(orphan.id) { $0.length = 5 } == nil)
    #expect(try uploads.removeExpired(now: .now) == 2)
    #expect(try Set(uploads.all()) == [young.id, adas.id, orphan.id])
    try uploads.removeAll(of: "ada")
    #expect(try Set(uploads.all()) == [young.id, orphan.id])
    #expect(try uploads.record(expired.id) == nil)
  }

  @Test("the clock of uploads passes over a step forward for a day, and follows a step back at once")
  func clock() {
    let (date, instant) = (Date(timeIntervalSince1970: 1e9), ContinuousClock.now)
    func time(_ clock: inout UploadClock, after elapsed: Double, stepped step: Double) -> Double {
      clock.time(date: date + elapsed + step, instant: instant + .seconds(elapsed)).timeIntervalSince(date)
    }
    var clock = UploadClock(date: date, instant: instant)
    #expect(time(&clock, after: 10, stepped: 0) == 10)
    #expect(time(&clock, after: 20, stepped: 7200) == 20)
    #expect(time(&clock, after: 30, stepped: 0) == 30)
    #expect(time(&clock, after: 40, stepped: -7200) == -7160)
    // The step back is undone.
    #expect(time(&clock, after: 50, stepped: 0) == -7150)
    #expect(time(&clock, after: 51 + 86_400, stepped: 0) == 86_451)
    // A clock that gains half a second has not stepped, and one that steps later does not count at once.
    #expect(time(&clock, after: 172_000, stepped: 0.5) == 172_000.5)
    #expect(time(&clock, after: 173_000, stepped: 7200.5) == 173_000.5)
    #expect(time(&clock, after: 174_000, stepped: 0.5) == 174_000.5)
  }

  @Test("an upload without a byte for a time has expired, unless it is whole or a post awaits it")
  func idle() throws {
    let records = try (0..<3).map { _ in
      let record = UploadRecord(
        user: nil, length: 1, metadata: nil, createdAt: .now, expiresAt: .distantFuture, idle: 60)
      try uploads.create(record)
      return record
    }
    let (idle, whole, awaited) = (records[0], records[1], records[2])
    let file = try #require(try uploads.open(whole.id))
    #expect(try append("a", at: 0, to: file) && file.complete(at: 1))
    _ = try uploads.update(awaited.id) { $0.awaited = .init(post: .now(), part: "front") }
    #expect(try uploads.removeExpired(now: .now.addingTimeInterval(30)) == 0)
    // A process that begins after a step of the clock has not seen the upload at rest.
    var stepped = uploads
    stepped.began = .now.addingTimeInterval(7200)
    #expect(try stepped.removeExpired(now: .now.addingTimeInterval(7230)) == 0)
    #expect(try uploads.removeExpired(now: .now.addingTimeInterval(70)) == 1)
    #expect(try Set(uploads.all()) == [whole.id, awaited.id] && uploads.record(idle.id) == nil)
  }

  @Test("an upload that was removed while its last byte came is not whole, and is no blob")
  func removedMeanwhile() throws {
    let store = try FolderBlobStore(folder: folder.path)
    let record = try create()
    let file = try #require(try uploads.open(record.id))
    #expect(try append("abc", at: 0, to: file))
    let blob = try file.sealed(hash: nil)
    #expect(try uploads.remove(record.id))
    #expect(try !file.complete(at: 3))
    #expect(throws: BlobError.missing(blob.hash)) { try store.publish(blob) }
  }

  @Test(
    "a record with numbers that no service writes is a damaged one",
    arguments: [
      #""length":-1"#, #""length":-9223372036854775808"#, #""charged":-9223372036854775808"#, #""charged":-1"#,
      #""length":9223372036854775808"#, #""idle":-1"#, #""idle":1e300"#, #""idle":1e400"#,
      #""expires_at":"99999999-01-01T00:00:00Z""#,
    ])
  func numbers(member: String) throws {
    let record = try create(of: "ada")
    let path = "\(folder.path)/uploads/\(record.id).json"
    let text = String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
    let name = try #require(member.split(separator: ":").first)
    let rest = text.dropFirst().split(separator: ",").filter { !$0.hasPrefix(name) }.joined(separator: ",")
    let end = rest.hasSuffix("}") ? "" : "}"
    try Data("{\(member),\(rest)\(end)".utf8).write(to: URL(filePath: path))
    #expect(try uploads.record(record.id) == nil)
    #expect(try uploads.update(record.id) { $0.refusal = nil } == nil)
    #expect(try uploads.removeExpired(now: .now) == 0)
  }

  @Test("a record is read as it was written")
  func records() throws {
    let record = try create(of: "ada")
    #expect(try uploads.update(record.id) { $0.length = 5 }?.length == 5)
    #expect(try uploads.update(.now()) { $0.length = 5 } == nil)
    let read = try #require(try uploads.record(record.id))
    #expect(read.length == 5 && read.user == "ada" && read.id == record.id)
    #expect(try uploads.record(.now()) == nil)
  }
}
