internal import Crypto
internal import HTTPServer
internal import Metrics
internal import Model
internal import Postgres
internal import Queue
internal import Store

extension ControlAPI {
  /// The timeout of a submission for a connection from the pool. It is long because the body was already received: a
  /// refusal would make the client upload it again.
  static let checkoutTimeout = Duration.seconds(120)

  /// Receives a submission; throws a problem before its body is read if the limit of concurrent submissions is reached or
  /// there is too little free space for media.
  func receiving(_ request: Request, _ body: () async throws -> Response) async throws -> Response {
    // A short form may contain only text, which needs no space for media. The space is checked again when a part with
    // media begins.
    let isShort = request.head.contentLength.map { $0 <= SubmissionForm.maxTextFormBytes } ?? false
    if !isShort { try mediaSpace.check() }
    return try await uploads.admit(request.client) { try await body() }
  }

  /// Stores a submission in one transaction. With an `Idempotency-Key`, `body` runs only for the first request, and later
  /// requests get the stored response.
  ///
  /// - Parameters:
  ///   - payload: the content of the request; requests with the same key must have an equal payload.
  ///   - body: stores the submission and returns the response.
  func submitting(
    _ request: Request, payload: [[UInt8]], _ body: @escaping @Sendable (Session) throws -> IdempotentResponse
  ) async throws -> Response {
    let key = try idempotencyKey(of: request, payload: payload)
    let store = store
    let (result, isReplay): (IdempotentResponse, Bool)
    do {
      (result, isReplay) = try await database.transaction(checkout: Self.checkoutTimeout) { session in
        let (result, isReplay): (IdempotentResponse, Bool)
        if let key {
          (result, isReplay) = try store.once(key, session) { try body(session) }
        } else {
          (result, isReplay) = (try body(session), false)
        }
        // Also for a replay: the first request may have failed between its commit and its notification.
        if result.status == Status.accepted.code { try JobQueue.notify(queue: PostJob.queue, session) }
        return (result, isReplay)
      }
    } catch let fault as Store.IdempotencyFault {
      switch fault {
      case .running:
        throw ProblemKind.idempotencyKeyRunning.problem(
          "The first request with this Idempotency-Key is still being processed.", headers: ["Retry-After": "1"])
      case .otherPayload:
        throw ProblemKind.idempotencyKeyReused.problem(
          "An earlier request with this Idempotency-Key had a different payload.")
      }
    }
    var headers: HeaderFields = ["Content-Type": "application/json", "Cache-Control": "no-store"]
    if let location = result.location { headers["Location"] = location }
    if isReplay { headers["Idempotency-Replayed"] = "true" }
    let status = [Status.ok, .created, .accepted].first { $0.code == result.status } ?? .ok
    return Response(status, headers: headers, body: .bytes(result.body))
  }

  private static let maxKeyLength = 200

  private func idempotencyKey(of request: Request, payload: [[UInt8]]) throws -> IdempotencyKey? {
    let fields = request.headers.values("Idempotency-Key")
    guard let field = fields.first else { return nil }
    // The draft specifies a quoted string (RFC 9651); many clients omit the quotes.
    let isQuoted = field.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    let key = isQuoted ? String(field.dropFirst().dropLast()) : field
    guard fields.count == 1, 1...Self.maxKeyLength ~= key.utf8.count,
      key.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x22 })
    else {
      throw ProblemKind.invalidIdempotencyKey.problem(
        "The header field Idempotency-Key must be one key of 1 to \(Self.maxKeyLength) visible ASCII characters.")
    }
    var hasher = SHA256()
    for piece in [Array(request.method.utf8), Array(request.target.path.utf8)] + payload {
      // The length before each piece makes the concatenation unambiguous.
      hasher.update(Array("\(piece.count):".utf8))
      hasher.update(piece)
    }
    return IdempotencyKey(tenant: request.principal ?? "", key: key, fingerprint: hasher.finalize())
  }

  /// Counts a stored submission in the metrics; a replayed one is not counted.
  func countSubmission(_ kind: String, bytes: Int64, _ response: Response) {
    guard response.headers["Idempotency-Replayed"] == nil else { return }
    metrics.count("take5_submissions_total", "Submissions stored.", ["kind": kind])
    metrics.count(
      "take5_upload_bytes_total", "Bytes of media stored by submissions.", ["kind": kind], by: Double(bytes))
  }
}
