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
