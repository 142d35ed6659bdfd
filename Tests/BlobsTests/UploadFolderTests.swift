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

  @Test("expired uploads are removed, also without a record, and those of a user who is deleted")
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
