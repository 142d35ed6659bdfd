internal import Blobs
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Platform
internal import Store

/// The uploads in the folder of this machine that no submission has used. Their number and their declared bytes are limited for
/// each client.
///
/// The folder is read before the first upload is created, and from time to time, for what other processes change in it. A
/// client is refused only for uploads that are there.
package final class OpenUploads: Sendable {
  /// What one client may have open.
  package struct Limit: Sendable, Hashable {
    package var uploads: Int
    /// The bytes that the uploads have declared. One without a length counts as one of the maximum length.
    package var bytes: Int64
  }

  package struct Limits: Sendable, Hashable {
    package var user = Limit(uploads: 32, bytes: 1 << 30)
    /// The limit of an API key that acts as no user, and may serve all users of an app.
    package var key = Limit(uploads: 4096, bytes: 64 << 30)

    package init() {}
  }

  private struct Entry {
    var record: UploadRecord
    /// The bytes up to which there is space.
    var reserved: Int64
    /// Whether its file exists.
    var isStored: Bool

    /// The bytes that the client may send and that have no space yet.
    var promised: Int64 { max(0, (record.length ?? 0) - reserved) }
  }

  private struct State {
    var entries: [PublicID: Entry] = [:]
    var held: [ShareHolder: Set<PublicID>] = [:]
    var isRead = false

    mutating func insert(_ entry: Entry) {
      entries[entry.record.id] = entry
      held[ShareHolder(entry.record), default: []].insert(entry.record.id)
    }

    mutating func remove(_ id: PublicID) {
      guard let entry = entries.removeValue(forKey: id) else { return }
      let holder = ShareHolder(entry.record)
      held[holder]?.remove(id)
      if held[holder]?.isEmpty == true { held[holder] = nil }
    }

    func records(of holder: ShareHolder) -> [UploadRecord] {
      (held[holder] ?? []).compactMap { entries[$0] }.filter(\.isStored).map(\.record)
    }
  }

  /// The number of uploads that a refusal names.
  private static let maxNamed = 32

  private let limits: Limits
  private let maxBytes: Int64
  private let state = Locked(State())

  /// - Parameter maxBytes: the maximum length of an upload.
  init(_ limits: Limits, maxBytes: Int64) {
    self.limits = limits
    self.maxBytes = maxBytes
  }

  /// The bytes that clients may send to uploads and that have no space yet.
  var promisedBytes: Int64 {
    state.withLock { state in state.entries.values.reduce(0) { Self.sum($0, $1.promised) } }
  }

  /// Creates an upload; throws a problem with status 429 if its client has too many, or too many bytes in them.
  ///
  /// - Parameter prepare: completes the record once the client may have the upload.
  func create(
    _ record: inout UploadRecord, in folder: UploadFolder, prepare: (inout UploadRecord) async throws -> Void
  ) async throws {
    if !state.withLock(\.isRead) { try read(folder) }
    if !admits(record) {
      let holder = ShareHolder(record)
      // Others may have removed some, and some have expired.
      for held in state.withLock({ $0.records(of: holder) })
      where folder.state(of: held.id) == nil || folder.expiry(of: held) <= UploadClock.now {
        remove(held.id)
      }
      guard admits(record) else { throw refusal(of: holder, in: folder) }
    }
    do {
      try await prepare(&record)
      try folder.create(record)
    } catch {
      remove(record.id)
      throw error
    }
    let stored = record
    change(stored.id) { entry in
      entry.record = stored
      entry.isStored = true
    }
  }

  /// Adds an upload that is about to be created, unless its client has too many.
  private func admits(_ record: UploadRecord) -> Bool {
    let (holder, limit) = (ShareHolder(record), limit(of: ShareHolder(record)))
    return state.withLock { state in
      let held = (state.held[holder] ?? []).compactMap { state.entries[$0] }
      let bytes = held.reduce(record.length ?? maxBytes) { Self.sum($0, $1.record.length ?? maxBytes) }
      guard held.count < limit.uploads, bytes <= limit.bytes else { return false }
      state.insert(Entry(record: record, reserved: 0, isStored: false))
      return true
    }
  }

  private func limit(of holder: ShareHolder) -> Limit { if case .user = holder { limits.user } else { limits.key } }

  private func refusal(of holder: ShareHolder, in folder: UploadFolder) -> Problem {
    let limit = limit(of: holder)
    let open = state.withLock { $0.records(of: holder) }
      .map { (id: $0.id, expiresAt: folder.expiry(of: $0)) }.sorted { $0.expiresAt < $1.expiresAt }
    let wait = open.first.map { $0.expiresAt.timeIntervalSinceNow.rounded(.up) } ?? 1
    let named = open.prefix(Self.maxNamed).map { upload in
      ProblemValue.object([
        .init(name: "id", value: .string("\(upload.id)")),
        .init(name: "expires_at", value: .string(JSON.text(of: upload.expiresAt))),
      ])
    }
    return ProblemKind.tooManyUploads.problem(
      "\(holder.name) has \(CountText.text(open.count, "open upload")); possible are "
        + "\(CountText.text(limit.uploads, "upload")) with \(limit.bytes) bytes in total.",
      members: [.init(name: "uploads", value: .list(named))], headers: ["Retry-After": "\(max(1, Int(wait)))"])
  }

  /// Takes what is known of an upload by now.
  func update(_ record: UploadRecord) { change(record.id) { $0.record = record } }

  /// Notes that there is space for the bytes of an upload up to an offset.
  func reserve(_ end: Int64, of id: PublicID) {
    change(id) { $0.reserved = max($0.reserved, end) }
  }

  private func change(_ id: PublicID, _ body: (inout Entry) -> Void) {
    state.withLock { state in
      guard var entry = state.entries[id] else { return }
      body(&entry)
      state.entries[id] = entry
    }
  }

  func remove(_ id: PublicID) { state.withLock { $0.remove(id) } }

  /// Reads the folder: what other processes have created in it, and what is no longer there.
  func read(_ folder: UploadFolder) throws(BlobError) {
    let former = state.withLock { Set($0.entries.values.filter(\.isStored).map(\.record.id)) }
    var found: Set<PublicID> = []
    for id in try folder.all() {
      guard let record = try folder.record(id), let file = folder.state(of: id) else { continue }
      found.insert(id)
      state.withLock { state in
        guard state.entries[id] == nil, !former.contains(id) else { return }
        state.insert(Entry(record: record, reserved: 0, isStored: true))
      }
      update(record)
      reserve(file.isWhole ? .max : file.offset, of: id)
    }
    state.withLock { state in
      for id in former.subtracting(found) { state.remove(id) }
      state.isRead = true
    }
  }

  private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
    let (sum, overflows) = one.addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}

extension ShareHolder {
  /// The client that an upload belongs to.
  init(_ record: UploadRecord) {
    self = record.user.map { .user(id: $0) } ?? .key(record.key ?? "")
  }
}
