package import Crypto
package import FoundationEssentials
import Glibc
package import Model
import Platform

/// Files that clients send in parts: a folder of the machine that receives them, with a file `<id>` of the bytes that have arrived, and its
/// record `<id>.json`. All calls block.
///
/// The length of the file is the offset: nothing else has to agree with it after a crash. A file that is whole is
/// read-only; it becomes a blob by a link, without a copy.
package struct UploadFolder: Sendable {
  static let name = "uploads"

  /// Receives each damaged record that is read, with the reason.
  package var onDamage: @Sendable (PublicID, String) -> Void = { _, _ in }
  /// The time before which no upload is known to be at rest.
  package var began = UploadClock.began

  private let store: FolderBlobStore
  private let folder: String

  /// - Parameters:
  ///   - store: the store in which uploads become blobs, or the copies of one on another machine.
  ///   - folder: where they lie; nil: in the folder of the store.
  init(of store: FolderBlobStore, in folder: String? = nil) {
    self.store = store
    self.folder = folder ?? "\(store.folder)/\(Self.name)"
  }

  /// Creates an upload without bytes, which is on the disk when this returns.
  package func create(_ record: UploadRecord) throws(BlobError) {
    try store.checkID()
    try wrap { () throws(SystemError) in
      try Folder.make(folder, mode: 0o700)
      try Descriptor(writing: path(record.id), replacing: false, mode: 0o640).synchronize()
    }
    try save(record)
  }

  /// Changes the record of an upload, also while other requests and processes do; returns the new one, nil if the upload does
  /// not exist.
  package func update(
    _ id: PublicID, _ change: (inout UploadRecord) -> Void
  ) throws(BlobError) -> UploadRecord? {
    guard let file = try open(id) else { return nil }
    return try file.locked { () throws(BlobError) in
      guard var record = try record(id) else { return nil }
      change(&record)
      try save(record)
      return record
    }
  }

  private func save(_ record: UploadRecord) throws(BlobError) {
    guard let text = try? JSON.encode(record) else { preconditionFailure("a record is always JSON") }
    try wrap { () throws(SystemError) in
      let (path, draft) = ("\(path(record.id)).json", "\(path(record.id)).draft")
      let file = try Descriptor(writing: draft, replacing: true, mode: 0o640)
      try file.write(text)
      try file.synchronize()
      guard rename(draft, path) == 0 else { throw SystemError(call: "rename", subject: path) }
      try Folder.synchronize(folder)
    }
  }

  /// Reads the record of an upload; nil if there is none, or if it is damaged: nothing can go on then, and the upload is removed
  /// like one without a record.
  package func record(_ id: PublicID) throws(BlobError) -> UploadRecord? {
    do throws(SystemError) {
      let text = try Descriptor(readingRegular: "\(path(id)).json").contents()
      return Self.decode(text) { reason in onDamage(id, reason) }
    } catch {
      guard error.code == ENOENT else { throw .system(error) }
      try store.checkID()
      return nil
    }
  }

  private static func decode(_ text: [UInt8], onDamage: (String) -> Void) -> UploadRecord? {
    do {
      let record = try JSON.decode(UploadRecord.self, from: text)
      if record.isSound { return record }
      onDamage("it has a number that no service writes")
    } catch {
      onDamage(JSON.reason(error))
    }
    return nil
  }

  /// Opens the file of an upload; nil if there is none.
  package func open(_ id: PublicID) throws(BlobError) -> UploadFile? {
    let number = Glibc.open(path(id), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
    // A whole file is read-only, which a process of root does not notice.
    let file = number < 0 && errno == EACCES ? Glibc.open(path(id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : number
    guard file >= 0 else {
      guard errno == ENOENT else { throw .system(SystemError(call: "open", subject: path(id))) }
      return nil
    }
    return UploadFile(Descriptor(owning: file), path: path(id))
  }

  /// The state of the file of an upload, which may not be on the disk yet; nil if there is none.
  package func state(of id: PublicID) -> UploadFile.State? {
    FolderBlobStore.status(path(id)).map { UploadFile.State($0) }
  }

  /// Removes an upload, between two changes of it; returns whether it existed. A blob that it has become is not affected.
  @discardableResult
  package func remove(_ id: PublicID) throws(BlobError) -> Bool {
    guard let file = try open(id) else { return try unlinkAll(of: id) }
    return try file.locked { () throws(BlobError) in try unlinkAll(of: id) }
  }

  private func unlinkAll(of id: PublicID) throws(BlobError) -> Bool {
    // The record last: without the file it is an upload that expires, and the other way around nothing finds the file.
    var existed = false
    for path in [path(id), "\(path(id)).draft", "\(path(id)).json"] {
      if unlink(path) == 0 {
        existed = true
      } else if errno != ENOENT {
        throw .system(SystemError(call: "unlink", subject: path))
      }
    }
    return existed
  }

  /// Removes the bytes of an upload that a post has taken. Its record stays for a day: a client that has not received the last response
  /// learns that all bytes are there. One that is not whole is removed.
  ///
  /// - Parameter hash: the blob that the bytes have become; nil: none.
  package func finish(_ id: PublicID, as hash: SHA256Digest? = nil, now: Date) throws(BlobError) {
    guard let file = try open(id) else { return }
    try file.locked { () throws(BlobError) in
      let state = try file.synchronizedState()
      guard state.isWhole, var record = try record(id), record.refusal == nil else {
        _ = try unlinkAll(of: id)
        return
      }
      record.finish(length: state.offset, hash: hash?.hex, now: now, remembered: Self.rememberedSeconds)
      try save(record)
      guard unlink(path(id)) == 0 || errno == ENOENT else {
        throw .system(SystemError(call: "unlink", subject: path(id)))
      }
    }
  }

  /// Makes an upload without bytes of one that is finished or whose file has lost bytes, so that its client sends them again; returns its
  /// record, nil if it is another upload.
  package func reopen(_ id: PublicID) throws(BlobError) -> UploadRecord? {
    guard let record = try record(id) else { return nil }
    if let status = FolderBlobStore.status(path(id)), record.isCut(UploadFile.State(status)) {
      // A copy of the blob may be the same file.
      guard unlink(path(id)) == 0 || errno == ENOENT else {
        throw .system(SystemError(call: "unlink", subject: path(id)))
      }
    } else if !record.isFinished {
      return nil
    }
    try wrap { () throws(SystemError) in
      do throws(SystemError) {
        try Descriptor(writing: path(id), replacing: false, mode: 0o640).synchronize()
      } catch  where error.code == EEXIST {
        // Another process has reopened it, or was ended before it had changed the record.
      }
    }
    return try update(id) { $0.reopen() }
  }

  private static let rememberedSeconds = 86_400.0

  /// The uploads, in the order of their creation.
  package func all() throws(BlobError) -> [PublicID] {
    do throws(SystemError) {
      let ids = Set(try Folder.names(in: folder).compactMap { PublicID($0.prefix { $0 != "." }.description) })
      return ids.sorted { $0.description < $1.description }
    } catch {
      guard error.code == ENOENT else { throw .system(error) }
      return []
    }
  }

  /// Returns when an upload expires, as it is now: its last byte may have come, or a post may await it.
  package func expiry(of record: UploadRecord) -> Date {
    guard let idle = record.idle, record.awaited == nil, let status = FolderBlobStore.status(path(record.id)),
      !UploadFile.State(status).isWhole
    else { return record.expiresAt }
    // Nothing but bytes changes the file.
    let last = max(Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec)), began)
    return min(record.expiresAt, last.addingTimeInterval(idle))
  }

  /// Removes the uploads that have expired, or that have no record and are a day old; returns their number.
  package func removeExpired(now: Date) throws(BlobError) -> Int {
    func isExpired(_ id: PublicID) throws(BlobError) -> Bool {
      try (record(id).map(expiry) ?? Date(timeIntervalSince1970: id.seconds + 24 * 3600)) <= now
    }
    var removed = 0
    for id in try all() where try isExpired(id) {
      // Asked again while no writer appends: what gets a byte meanwhile stays.
      let isRemoved =
        if let file = try open(id) {
          try file.locked { () throws(BlobError) in try isExpired(id) ? unlinkAll(of: id) : false }
        } else {
          try remove(id)
        }
      if isRemoved { removed += 1 }
    }
    return removed
  }

  /// Removes the uploads of users that were created until the time that `end` returns for the user; nil: never.
  package func removeAll(until end: (String) -> Date?) throws(BlobError) {
    for id in try all() {
      if let record = try record(id), let user = record.user, let end = end(user), record.createdAt <= end {
        try remove(id)
      }
    }
  }

  /// The users who have uploads.
  package func users() throws(BlobError) -> Set<String> {
    var users: Set<String> = []
    for id in try all() {
      if let user = try record(id)?.user { users.insert(user) }
    }
    return users
  }

  /// Removes the uploads of a user.
  package func removeAll(of user: String) throws(BlobError) {
    for id in try all() {
      if let owner = try record(id)?.user, owner.utf8.elementsEqual(user.utf8) { try remove(id) }
    }
  }

  /// Takes the uploads in another folder, unless it is this one. What an interruption leaves there is taken the next time.
  ///
  /// - Parameter link: the target of a link that takes the place of the other folder: this one, as seen from there. Through it a process of a
  ///   version that has its uploads there finds them; nil: the folder stays.
  package func take(from other: String, leaving link: String? = nil) throws(BlobError) {
    guard other != folder else { return }
    do throws(SystemError) {
      let names = try Folder.names(in: other)
      if names.isEmpty && link == nil { return }
      try Folder.make(folder, mode: 0o700)
      guard try Folder.resolved(other) != Folder.resolved(folder) else { return }
      // The records last: a file without one waits for a day, and a record without a file is an upload that has gone.
      for name in names.sorted(by: { ($0.count, $0) < ($1.count, $1) }) { try move(name, from: other) }
      try Folder.synchronize(folder)
      try Folder.synchronize(other)
      // Such a process may have put another upload there, which the next call takes. Where an operator has put the former folder on another
      // disk, behind a link, the target would be a wrong place or none (ENOENT).
      if let link, try Folder.resolved("\(other)/../\(link)") == Folder.resolved(folder), rmdir(other) == 0 {
        _ = symlink(link, other)
      }
    } catch {
      guard error.code == ENOENT else { throw .system(error) }
    }
  }

  private func move(_ name: String, from other: String) throws(SystemError) {
    let (source, target) = ("\(other)/\(name)", "\(folder)/\(name)")
    if name.hasPrefix(".") {
      // The copy of a call that was interrupted.
      guard unlink(source) == 0 || errno == ENOENT else { throw SystemError(call: "unlink", subject: source) }
      return
    }
    if rename(source, target) == 0 || errno == ENOENT { return }
    guard errno == EXDEV else { throw SystemError(call: "rename", subject: source) }
    // Nil: another process has taken it.
    guard let content = try Self.opened(source) else { return }
    // No other process takes it too, and none of a version before appends to it.
    _ = try content.lock(waiting: true)
    defer { flock(content.number, LOCK_UN) }
    guard let status = FolderBlobStore.status(source) else { return }
    // An interrupted call has copied the file whole, and it may have got more bytes since.
    if FolderBlobStore.status(target) == nil { try copy(content, status, to: name) }
    // A machine that loses its power has one of both.
    try Folder.synchronize(folder)
    guard unlink(source) == 0 || errno == ENOENT else { throw SystemError(call: "unlink", subject: source) }
  }

  /// Nil if there is no such file.
  private static func opened(_ path: String) throws(SystemError) -> Descriptor? {
    do throws(SystemError) { return try Descriptor(readingRegular: path) } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
  }

  /// Copies a file with the mode by which an upload is whole and the time by which it expires. It has its name when all of it is on the disk.
  private func copy(_ content: borrowing Descriptor, _ status: stat, to name: String) throws(SystemError) {
    let (draft, target) = ("\(folder)/.\(name)", "\(folder)/\(name)")
    // The draft of an interrupted call may be read-only.
    _ = unlink(draft)
    let file = try Descriptor(writing: draft, replacing: true, mode: 0o640)
    try file.write(contentOf: content)
    guard futimens(file.number, [status.st_mtim, status.st_mtim]) == 0, fchmod(file.number, status.st_mode & 0o777) == 0
    else { throw SystemError(call: "fchmod", subject: draft) }
    try file.synchronize()
    guard rename(draft, target) == 0 else { throw SystemError(call: "rename", subject: target) }
  }

  private func path(_ id: PublicID) -> String { "\(folder)/\(id)" }

  private func wrap(_ body: () throws(SystemError) -> Void) throws(BlobError) {
    do throws(SystemError) { try body() } catch { throw .system(error) }
  }
}
