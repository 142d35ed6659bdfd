internal import Blobs
internal import Crypto
internal import ISOBaseMedia
internal import Model
internal import Platform

/// What is computed of an upload as its bytes arrive: its hash, and whether it will be rejected.
final class ArrivingContent: Sendable {
  private struct State: ~Copyable {
    var hash: SHA256? = SHA256()
    var validator: StreamValidator
    /// The number of bytes that have been added.
    var offset: Int64 = 0

    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Reason? {
      hash?.update(bytes)
      offset += Int64(bytes.count)
      return validator.append(bytes)?.reason
    }
  }

  private let state: Locked<State>

  /// - Parameter length: the length of the upload in bytes; nil: unknown.
  init(accepting accepted: AcceptedMedia, length: Int64?) {
    state = Locked(State(validator: StreamValidator(accepting: accepted, length: length)))
  }

  var offset: Int64 { state.withLock { $0.offset } }

  /// Adds the next bytes; returns the reason for which nothing can be made of the file, if they show one.
  func append(_ bytes: UnsafeRawBufferPointer) -> Reason? { state.withLock { $0.append(bytes) } }

  /// Adds what has arrived before, up to an offset; returns the reason, if it shows one.
  func append(_ file: UploadFile, upTo end: Int64) throws(BlobError) -> Reason? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var reason: Reason?
    while offset < end {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: end - offset)))
      let count = try file.read(into: rest, at: offset)
      guard count > 0 else { break }
      reason = append(UnsafeRawBufferPointer(rebasing: rest[..<count]))
    }
    return reason
  }

  /// The hash of all bytes; nil the second time.
  func finish() -> SHA256Digest? {
    state.withLock { state in
      var finished: SHA256?
      swap(&finished, &state.hash)
      return finished.take()?.finalize()
    }
  }
}

/// The contents of uploads that this process receives, between the requests that send them. What is missing, after a restart
/// or for lack of room, is computed from the file.
final class ArrivingContents: Sendable {
  private struct Entries {
    var unfinished: [PublicID: ArrivingContent] = [:]
    /// The hashes of whole uploads.
    var hashes: [PublicID: SHA256Digest] = [:]
  }

  private static let maxEntries = 4096
  private let entries = Locked(Entries())

  /// Takes the content of the first `offset` bytes, at most, of an upload; nil: it is not known.
  func take(_ id: PublicID, upTo offset: Int64) -> ArrivingContent? {
    let content = entries.withLock { $0.unfinished.removeValue(forKey: id) }
    return content.flatMap { $0.offset <= offset ? $0 : nil }
  }

  /// Keeps the content of an upload that is not whole.
  func keep(_ content: ArrivingContent, of id: PublicID) {
    entries.withLock { entries in
      if entries.unfinished.count >= Self.maxEntries { entries.unfinished.removeAll() }
      entries.unfinished[id] = content
    }
  }

  /// Keeps the hash of a whole upload.
  func keep(_ hash: SHA256Digest, of id: PublicID) {
    entries.withLock { entries in
      if entries.hashes.count >= Self.maxEntries { entries.hashes.removeAll() }
      entries.hashes[id] = hash
    }
  }

  /// The hash of a whole upload; nil: it is not known.
  func hash(of id: PublicID) -> SHA256Digest? { entries.withLock { $0.hashes[id] } }

  func forget(_ id: PublicID) {
    entries.withLock { entries in
      entries.unfinished[id] = nil
      entries.hashes[id] = nil
    }
  }
}
