internal import Crypto
internal import HTTPServer
internal import Model
internal import Platform

/// Gives each upload to one request at a time: a new request ends the one before it, whose connection may be dead without
/// anything in this process noticing it, so that no upload is ever locked.
///
/// Requests to other processes are not ended; `UploadFile.append` keeps their bytes apart.
final class UploadTurns: Sendable {
  /// A request that has its turn at an upload.
  final class Turn: Sendable {
    fileprivate let body: RequestBody
    fileprivate let ended = OneShot<Void>()

    fileprivate init(_ body: RequestBody) { self.body = body }
  }

  private let turns = Locked<[PublicID: Turn]>([:])

  /// Runs `body` once the request before has ended, which this ends.
  func take<Result: Sendable>(
    _ id: PublicID, _ request: Request, _ body: () async throws -> Result
  ) async throws -> Result {
    let turn = Turn(request.body)
    let former = turns.withLock { turns in
      defer { turns[id] = turn }
      return turns[id]
    }
    defer {
      turns.withLock { turns in if turns[id] === turn { turns[id] = nil } }
      turn.ended.fulfil(())
    }
    if let former {
      former.body.cancel()
      await former.ended.value
    }
    return try await body()
  }
}

/// The hashes of uploads that this process receives, computed as the bytes arrive. A hash that is missing, after a restart
/// or for lack of room, is computed from the file.
final class UploadHashes: Sendable {
  /// A hash that is being computed.
  final class Running: Sendable {
    private let hasher: Locked<SHA256?> = Locked(SHA256())

    fileprivate init() {}

    func update(_ bytes: UnsafeRawBufferPointer) { hasher.withLock { $0?.update(bytes) } }

    fileprivate func finish() -> SHA256Digest? {
      hasher.withLock { hasher in
        var finished: SHA256?
        swap(&finished, &hasher)
        return finished.take()?.finalize()
      }
    }
  }

  private struct Entry {
    var offset: Int64
    var running: Running?
    var digest: SHA256Digest?
  }

  private static let maxEntries = 4096
  private let entries = Locked<[PublicID: Entry]>([:])

  /// Takes the hash of the first `offset` bytes, to continue it; nil: it is not known.
  func resume(_ id: PublicID, at offset: Int64) -> Running? {
    entries.withLock { entries in
      let entry = entries.removeValue(forKey: id)
      if let entry, entry.offset == offset, entry.digest == nil { return entry.running }
      return offset == 0 ? Running() : nil
    }
  }

  /// Keeps a hash of the first `offset` bytes, which are all if the upload is whole.
  func keep(_ running: Running?, of id: PublicID, at offset: Int64, isWhole: Bool) {
    guard let running else { return }
    let entry = Entry(
      offset: offset, running: isWhole ? nil : running, digest: isWhole ? running.finish() : nil)
    entries.withLock { entries in
      if entries.count >= Self.maxEntries { entries.removeAll() }
      entries[id] = entry
    }
  }

  /// The hash of a whole upload; nil: it is not known.
  func digest(of id: PublicID) -> SHA256Digest? { entries.withLock { $0[id]?.digest } }

  func forget(_ id: PublicID) { entries.withLock { $0[id] = nil } }
}
