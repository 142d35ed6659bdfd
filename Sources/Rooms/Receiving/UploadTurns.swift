internal import HTTPServer
internal import Model
internal import Platform

/// Gives each upload to one request at a time: a new request ends the one before it, whose connection may be dead without
/// anything in this process noticing it, so that no upload is ever locked.
///
/// Requests to other processes are not ended; `UploadFile.append` keeps their bytes apart.
final class UploadTurns: Sendable {
  /// A request that has its turn at an upload.
  private final class Turn: Sendable {
    let arrival: ContinuousClock.Instant
    let end: @Sendable () -> Void
    let ended = OneShot<Void>()

    init(_ arrival: ContinuousClock.Instant, _ end: @escaping @Sendable () -> Void) {
      (self.arrival, self.end) = (arrival, end)
    }
  }

  private let turns = Locked<[PublicID: Turn]>([:])

  /// Runs `body` once the request before has ended, which this ends.
  func take<Result: Sendable>(
    _ id: PublicID, _ request: Request, _ body: () async throws -> Result
  ) async throws -> Result {
    let content = request.body
    return try await take(id, arrival: content.arrival, end: { content.cancel() }, body)
  }

  /// - Parameters:
  ///   - arrival: when the request had arrived. One that waited for a thread while a later one took its turn is ended itself: its client
  ///     has given it up.
  ///   - end: ends the request.
  func take<Result: Sendable>(
    _ id: PublicID, arrival: ContinuousClock.Instant, end: @escaping @Sendable () -> Void,
    _ body: () async throws -> Result
  ) async throws -> Result {
    let turn = Turn(arrival, end)
    let former = turns.withLock { turns in
      let present = turns[id]
      if present.map({ $0.arrival <= arrival }) ?? true { turns[id] = turn }
      return present
    }
    if let former, former.arrival > arrival {
      end()
      throw BodyError.cancelled
    }
    defer {
      turns.withLock { turns in if turns[id] === turn { turns[id] = nil } }
      turn.ended.fulfil(())
    }
    if let former {
      former.end()
      await former.ended.value
    }
    return try await body()
  }
}
