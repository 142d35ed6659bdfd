import Crypto
import Glibc
import Model
import Platform
import PostgresTesting
import Testing

@testable import Blobs

/// What a blob is in either store of a move, and what each operation returns.
@Suite("Damaged blobs that move to another store")
struct MovingDamageTests {
  /// The file of a blob in a store.
  private enum State: CaseIterable {
    case intact
    /// Other bytes of the same length.
    case rotten
    case truncated, absent
    /// The store cannot be reached.
    case away
  }

  /// What an operation returns.
  private enum Outcome: Equatable {
    /// The bytes of the blob, or no damage.
    case right
    /// Other bytes of this length: the operation compares none.
    case wrong
    /// Fewer bytes: the operation compares no length.
    case short
    /// The caller has to ask another machine.
    case none
    case missing, truncated, corrupt, away
  }

  /// The table of an operation: a row for each state in the current store, with a column for each state in the next one.
  private typealias Table = [[Outcome]]

  private static let opened: Table = [
    [.right, .right, .right, .right, .right],
    [.wrong, .wrong, .wrong, .wrong, .wrong],
    [.short, .short, .short, .short, .short],
    [.right, .wrong, .short, .missing, .away],
    [.right, .wrong, .short, .away, .away],
  ]

  private static let openedWithLength: Table = [
    [.right, .right, .right, .right, .right],
    [.wrong, .wrong, .wrong, .wrong, .wrong],
    [.right, .wrong, .truncated, .truncated, .away],
    [.right, .wrong, .truncated, .missing, .away],
    [.right, .wrong, .away, .away, .away],
  ]

  private static let verified: Table = [
    [.right, .right, .right, .right, .right],
    [.right, .corrupt, .corrupt, .corrupt, .away],
    [.right, .truncated, .truncated, .truncated, .away],
    [.right, .corrupt, .truncated, .missing, .away],
    [.right, .away, .away, .away, .away],
  ]

  /// As verified, and what a store has of a blob that neither has intact.
  private static let uncached: Table = verified.map { row in
    row.map { $0 == .corrupt ? .wrong : $0 == .truncated ? .short : $0 }
  }

  private static let contained: Table = [
    [.right, .right, .right, .right, .right],
    [.right, .right, .right, .right, .right],
    [.right, .right, .right, .right, .right],
    [.right, .right, .right, .missing, .away],
    [.right, .right, .right, .away, .away],
  ]

  /// Of a bucket whose objects have no copy on this machine, and a folder that it moves to.
  private static let localAfterBucket: Table = Array(repeating: [.right, .wrong, .none, .none, .none], count: 5)

  private static let localBeforeBucket: Table = [.right, .wrong, .none, .none, .none].map {
    Array(repeating: $0, count: 5)
  }

  /// A bucket compares what it sends: it has nothing to scrub, and mends the folder.
  private static let scrubbedAfterBucket: Table = [
    [.right, .right, .right, .right, .right],
    [.right, .corrupt, .truncated, .right, .right],
    [.right, .corrupt, .truncated, .right, .right],
    [.right, .corrupt, .truncated, .right, .right],
    [.right, .away, .away, .right, .right],
  ]

  private static let scrubbedBeforeBucket: Table = [
    [.right, .right, .right, .right, .right],
    [.right, .corrupt, .corrupt, .corrupt, .away],
    [.right, .truncated, .truncated, .truncated, .away],
    [.right, .right, .right, .right, .right],
    [.right, .right, .right, .right, .right],
  ]

  /// A folder that is asked as a bucket without copies on this machine.
  private struct FarBlobStore: LocalBlobStore, InspectableBlobStore {
    let base: FolderBlobStore

    var isRemote: Bool { true }
    var ids: [PublicID] { base.ids }
    var shards: Int { 256 }

    func openLocal(_ hash: SHA256Digest, bytes: Int64) throws(BlobError) -> Descriptor? { nil }
    func scrub(_ hash: SHA256Digest, bytes: Int64, rate: ReadRate?) throws(BlobError) -> BlobDamage? { nil }

    func stage() throws(BlobError) -> StagedBlob { try base.stage() }
    func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.prepare(blob, replacing: replacing) }
    func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.publish(blob, replacing: replacing) }
    func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try base.open(hash) }
    func openUncached(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try base.openUncached(hash) }
    func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.remove(hash) }
    func freeBytes() throws(BlobError) -> Int64? { try base.freeBytes() }
    func uploads() throws(BlobError) -> UploadFolder { try base.uploads() }
    func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.contains(hash) }
    func listing(ofShard shard: Int) throws(BlobError) -> BlobListing { try base.listing(ofShard: shard) }
    func stagedOrphans() throws(BlobError) -> [StoredFile] { try base.stagedOrphans() }
    func removeStagedOrphans() throws(BlobError) -> [StoredFile] { try base.removeStagedOrphans() }
    func location(of hash: SHA256Digest) -> String { base.location(of: hash) }
  }

  private static let content = Array("a moment".utf8)
  private static let rotten = Array("a mOment".utf8)
  private static let hash = SHA256.digest(of: content)
  private static let bytes = Int64(content.count)

  private let folder: TemporaryFolder
  private let old: FolderBlobStore
  private let new: FolderBlobStore

  init() throws {
    folder = try TemporaryFolder()
    old = try FolderBlobStore(folder: "\(folder.path)/old")
    new = try FolderBlobStore(folder: "\(folder.path)/new")
  }

  /// Brings a blob into a state, whatever it was in before.
  private func set(_ store: FolderBlobStore, _ state: State) throws {
    if rename("\(store.folder)-away", store.folder) != 0 { #expect(errno == ENOENT) }
    let path = store.path(of: Self.hash)
    if unlink(path) != 0 { #expect(errno == ENOENT) }
    switch state {
    case .intact: try Descriptor(writing: path, replacing: false).write(Self.content)
    case .rotten: try Descriptor(writing: path, replacing: false).write(Self.rotten)
    case .truncated: try Descriptor(writing: path, replacing: false).write(Array(Self.content.dropLast()))
    case .absent: break
    case .away: #expect(rename(store.folder, "\(store.folder)-away") == 0)
    }
  }

  private func outcome(_ body: () throws(BlobError) -> Outcome) -> Outcome {
    do throws(BlobError) { return try body() } catch {
      switch error {
      case .missing: return .missing
      case .damaged(_, .truncated): return .truncated
      case .damaged: return .corrupt
      default: return .away
      }
    }
  }

  private func reading(_ open: () throws(BlobError) -> Descriptor?) -> Outcome {
    outcome { () throws(BlobError) in
      guard let file = try open() else { return .none }
      do throws(SystemError) {
        let bytes = try file.contents()
        return bytes == Self.content ? .right : bytes.count == Self.content.count ? .wrong : .short
      } catch {
        throw .system(error)
      }
    }
  }

  private func checking(_ check: () throws(BlobError) -> BlobDamage?) -> Outcome {
    outcome { () throws(BlobError) in
      switch try check() {
      case nil: .right
      case .missing: .missing
      case .truncated: .truncated
      case .corrupt: .corrupt
      }
    }
  }

  /// Compares an operation of a moving store with its table.
  private func walk(
    _ name: String, _ table: Table, _ store: MovingBlobStore, _ operation: (MovingBlobStore) -> Outcome,
    after: (State, State) throws -> Void = { _, _ in }
  ) throws {
    for (row, here) in zip(table, State.allCases) {
      for (expected, there) in zip(row, State.allCases) {
        try set(old, here)
        try set(new, there)
        let found = operation(store)
        #expect(found == expected, "\(name): \(here) in the current store, \(there) in the next one")
        try after(here, there)
      }
    }
  }

  private static let rate = ReadRate(bytesPerSecond: 1 << 30, until: CancellationFlag())

  /// The moving stores of each kind, with the name of the kind.
  private var kinds: [(name: String, store: MovingBlobStore)] {
    [
      ("folder to folder", MovingBlobStore(old, next: new)),
      ("bucket to folder", MovingBlobStore(FarBlobStore(base: old), next: new)),
      ("folder to bucket", MovingBlobStore(old, next: FarBlobStore(base: new))),
      ("bucket to bucket", MovingBlobStore(FarBlobStore(base: old), next: FarBlobStore(base: new))),
    ]
  }

  @Test("a read returns what either store has, and fails as the store that may have the blob")
  func reads() throws {
    let (hash, bytes) = (Self.hash, Self.bytes)
    for (kind, store) in kinds {
      try walk("\(kind), open", Self.opened, store) { store in
        reading { () throws(BlobError) in try store.open(hash) }
      }
      try walk("\(kind), open with a length", Self.openedWithLength, store) { store in
        reading { () throws(BlobError) in try store.open(hash, bytes: bytes) }
      }
      try walk("\(kind), open verified", Self.verified, store) { store in
        reading { () throws(BlobError) in try store.openVerified(hash, bytes: bytes) }
      }
      try walk("\(kind), open uncached", Self.uncached, store) { store in
        reading { () throws(BlobError) in try store.openUncached(hash) }
      }
      try walk("\(kind), contains", Self.contained, store) { store in
        outcome { () throws(BlobError) in try store.contains(hash) ? .right : .missing }
      }
    }
  }

  @Test("a read on this machine looks in both stores, and leaves to another machine what neither has here")
  func localReads() throws {
    let (hash, bytes) = (Self.hash, Self.bytes)
    let tables: [Table] = [
      Self.openedWithLength, Self.localAfterBucket, Self.localBeforeBucket,
      Array(repeating: Array(repeating: .none, count: 5), count: 5),
    ]
    for ((kind, store), table) in zip(kinds, tables) {
      try walk("\(kind), open local", table, store) { store in
        reading { () throws(BlobError) in try store.openLocal(hash, bytes: bytes) }
      }
    }
  }

  @Test("a blob is damaged if neither store has it intact; the file of one is mended from the other")
  func damage() throws {
    let (hash, bytes) = (Self.hash, Self.bytes)
    func isMended(_ here: State, _ there: State) throws {
      for (store, state, other) in [(old, here, there), (new, there, here)]
      where other == .intact && (state == .rotten || state == .truncated) {
        #expect(try store.open(hash, bytes: bytes).contents() == Self.content, "\(state) beside \(other)")
      }
    }
    for (kind, store) in kinds {
      try walk("\(kind), damage", Self.verified, store) { store in
        checking { () throws(BlobError) in try store.damage(of: hash, bytes: bytes, rate: nil) }
      } after: { here, there in
        try isMended(here, there)
      }
    }
    let scrubs: [Table] = [Self.verified, Self.scrubbedAfterBucket, Self.scrubbedBeforeBucket]
    for ((kind, store), table) in zip(kinds, scrubs) {
      try walk("\(kind), scrub", table, store) { store in
        checking { () throws(BlobError) in try store.scrub(hash, bytes: bytes, rate: Self.rate) }
      } after: { here, there in
        if kind != "bucket to folder" || there != .intact, kind != "folder to bucket" || here != .intact {
          try isMended(here, there)
        }
      }
    }
  }

  @Test("a publication leaves the blob intact in both stores, whatever they had under its name")
  func publications() throws {
    for (kind, store) in kinds {
      for here in State.allCases {
        for there in State.allCases {
          try set(old, .absent)
          try set(new, .absent)
          var staged = try store.stage()
          try Self.content.withUnsafeBytes { try staged.append($0) }
          let blob = try staged.seal()
          try set(old, here)
          try set(new, there)
          let found = outcome { () throws(BlobError) in
            try store.prepare(blob)
            try store.publish(blob)
            return .right
          }
          guard here != .away, there != .away else {
            #expect(found == .away, "\(kind): \(here), \(there)")
            continue
          }
          #expect(found == .right, "\(kind): \(here), \(there)")
          for side in [old, new] {
            #expect(try side.damage(of: Self.hash, bytes: Self.bytes) == nil, "\(kind): \(here), \(there)")
          }
        }
      }
    }
  }

  @Test("a message about a blob names both files")
  func location() {
    let store = MovingBlobStore(old, next: new)
    #expect(store.location(of: Self.hash).contains(old.location(of: Self.hash)))
    #expect(store.location(of: Self.hash).contains(new.location(of: Self.hash)))
  }
}
