internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

extension ControlAPI {
  /// Does a submission in one transaction, once for its `Idempotency-Key` if it carries one.
  ///
  /// - Parameters:
  ///   - payload: what the request holds, piece by piece: two requests with the same pieces are the same.
  ///   - body: does it, and gives the answer.
  func submitting(
    _ request: Request, payload: [[UInt8]], _ body: @escaping @Sendable (Session) throws -> IdempotentAnswer
  ) async throws -> Response {
    let key = try idempotencyKey(of: request, payload: payload)
    let store = store
    let (answer, isReplay): (IdempotentAnswer, Bool)
    do {
      (answer, isReplay) = try await database.transaction(checkout: Self.checkout) { session in
        let (answer, isReplay): (IdempotentAnswer, Bool)
        if let key {
          (answer, isReplay) = try store.once(key, session) { try body(session) }
        } else {
          (answer, isReplay) = (try body(session), false)
        }
        // Also after a replay: the first time may have ended between the commit and the word to the workers.
        if answer.status == Status.accepted.code { try JobQueue.notify(queue: PostJob.queue, session) }
        return (answer, isReplay)
      }
    } catch let fault as Store.IdempotencyFault {
      switch fault {
      case .running:
        throw ProblemKind.idempotencyKeyRunning.problem(
          "A request with this Idempotency-Key has not been answered yet.", headers: ["Retry-After": "1"])
      case .otherPayload:
        throw ProblemKind.idempotencyKeyReused.problem(
          "A request with this Idempotency-Key and another payload was answered before.")
      }
    }
    var headers: HeaderFields = ["Content-Type": "application/json", "Cache-Control": "no-store"]
    if let location = answer.location { headers["Location"] = location }
    if isReplay { headers["Idempotency-Replayed"] = "true" }
    let status = [Status.ok, .created, .accepted].first { $0.code == answer.status } ?? .ok
    return Response(status, headers: headers, body: .bytes(answer.body))
  }

  private static let maxKeyLength = 200

  private func idempotencyKey(of request: Request, payload: [[UInt8]]) throws -> IdempotencyKey? {
    let fields = request.headers.values("Idempotency-Key")
    guard let field = fields.first else { return nil }
    // The draft has a quoted string (RFC 9651); many clients send it bare.
    let isQuoted = field.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    let key = isQuoted ? String(field.dropFirst().dropLast()) : field
    guard fields.count == 1, 1...Self.maxKeyLength ~= key.utf8.count,
      key.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x22 })
    else {
      throw ProblemKind.invalidIdempotencyKey.problem(
        "The header field Idempotency-Key is not one key of 1 to \(Self.maxKeyLength) visible characters.")
    }
    var hasher = SHA256()
    for piece in [Array(request.method.utf8), Array(request.target.path.utf8)] + payload {
      // Lengths before contents: no two lists of pieces run together into the same bytes.
      hasher.update(Array("\(piece.count):".utf8))
      hasher.update(piece)
    }
    return IdempotencyKey(tenant: request.principal ?? "", key: key, fingerprint: hasher.finalize())
  }
}
