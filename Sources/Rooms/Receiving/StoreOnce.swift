internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// The timeout of a submission for a connection from the pool. It is long because the body was already received: a
/// refusal would make the client upload it again.
private let checkoutTimeout = Duration.seconds(120)

private let maxKeyLength = 200

/// Submissions that a client may repeat.
extension KitHolder {
  /// Stores a submission in one transaction and notifies the workers of its job. With an `Idempotency-Key`, `body` runs
  /// only for the first request, and later requests get the stored response.
  ///
  /// An upload grant is used in the same transaction, and not by a request that gets a stored response. After the commit nothing fails
  /// the request.
  ///
  /// - Parameters:
  ///   - kind: the kind that an upload grant must permit; nil: no grant permits the submission.
  ///   - payload: the content of the request; requests with the same key must have an equal payload.
  ///   - body: stores the submission.
  func storeOnce(
    _ request: Request, _ kind: SubmissionKind?, payload: [[UInt8]], publishing sources: [NewAsset] = [],
    _ body: @escaping @Sendable (Session) throws -> StoredSubmission
  ) async throws -> StoredSubmission {
    let caller = request.caller
    try caller.checkGrant(kind)
    let submit = { @Sendable (session: Session) throws -> StoredSubmission in
      if let token = caller.token, token.grant != nil, try !Tokens.useGrant(of: token.id, session) {
        throw AccessControl.grantUsed
      }
      return try body(session)
    }
    let key = try idempotencyKey(of: request, payload: payload)
    let stored: StoredSubmission
    do {
      // A client that a hanging disk has let go with a refusal must not find its submission stored.
      try Task.checkCancellation()
      stored = try await store.transaction(
        publishing: sources,
        by: { [writes = kit.writes] work in
          try await writes.run(work)
          try Task.checkCancellation()
        }, database, checkout: checkoutTimeout
      ) { session in
        let stored = try key.map { try Self.stored(under: $0, session, submit) } ?? submit(session)
        // Also for a replay: the first request may have failed between its commit and its notification.
        if stored.status == .accepted { try JobQueue.notify(queues: JobKinds.submissionQueues, session) }
        return stored
      }
    } catch BlobError.missing {
      // Another request has removed or used an upload since it was looked up. If it was the first one with the key, its response counts.
      let missing = ProblemKind.uploadNotFound.problem("An upload that the submission names does not exist.")
      guard let key else { throw missing }
      stored = try await database.transaction { session in
        try Self.stored(under: key, session) { _ in throw missing }
      }
    }
    request.commit(stored.response)
    return stored
  }

  /// Runs `body` for the first request with a key, and returns the stored response for others.
  private static func stored(
    under key: IdempotencyKey, _ session: Session, _ body: (Session) throws -> StoredSubmission
  ) throws -> StoredSubmission {
    var first: StoredSubmission?
    let (response, _) = try Idempotency.once(key, session) {
      let stored = try body(session)
      first = stored
      return stored.idempotentResponse
    }
    return first ?? StoredSubmission(replaying: response)
  }

  /// Returns the stored response to a request with media, before its body is read: a client that repeats a submission whose
  /// response was lost need not send the media again.
  ///
  /// The request is recognized by its key and its head, of which the length and a digest of the body are parts (RFC 9530). Without a
  /// digest or a database, the body is read, and the transaction decides: another content of the same length gets no response of another.
  func replay(of request: Request) async -> StoredSubmission? {
    guard let head = Self.headHash(of: request), let key = try? keyText(of: request) else { return nil }
    let tenant = request.caller.idempotencyTenant
    let stored = try? await database.read { try Idempotency.response(tenant: tenant, key: key, head: head, $0) }
    return stored.map { StoredSubmission(replaying: $0) }
  }

  /// The hash of what a repetition of a request with media has in its head; nil if the body is short or of unknown length, or has no
  /// digest. The type of a form is not in it: its delimiter may be another one.
  private static func headHash(of request: Request) -> SHA256Digest? {
    guard let length = request.head.contentLength, length > MediaSubmissions.maxTextFormBytes else { return nil }
    let digests = ["Repr-Digest", "Content-Digest"].map { request.headers[$0] ?? "" }
    guard digests.contains(where: { !$0.isEmpty }) else { return nil }
    return hash([request.method, request.target.path, "\(length)"] + digests)
  }

  private static func hash(_ pieces: [String]) -> SHA256Digest { hash(pieces.map { Array($0.utf8) }) }

  private static func hash(_ pieces: [[UInt8]]) -> SHA256Digest {
    var hasher = SHA256()
    for piece in pieces {
      // The length before each piece makes the concatenation unambiguous.
      hasher.update(Array("\(piece.count):".utf8))
      hasher.update(piece)
    }
    return hasher.finalize()
  }

  private func idempotencyKey(of request: Request, payload: [[UInt8]]) throws -> IdempotencyKey? {
    guard let key = try keyText(of: request) else { return nil }
    return IdempotencyKey(
      tenant: request.caller.idempotencyTenant, key: key,
      fingerprint: Self.hash([Array(request.method.utf8), Array(request.target.path.utf8)] + payload),
      head: Self.headHash(of: request))
  }

  private func keyText(of request: Request) throws -> String? {
    let fields = request.headers.values("Idempotency-Key")
    guard let field = fields.first else { return nil }
    // The draft specifies a quoted string (RFC 9651); many clients omit the quotes.
    let isQuoted = field.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    let key = isQuoted ? String(field.dropFirst().dropLast()) : field
    guard fields.count == 1, 1...maxKeyLength ~= key.utf8.count,
      key.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != 0x22 })
    else {
      throw ProblemKind.invalidIdempotencyKey.problem(
        "The header field Idempotency-Key must be one key of 1 to \(maxKeyLength) visible ASCII characters.")
    }
    return key
  }
}

extension QuarantineRefusal: RequestRefusal {
  var problem: Problem { MediaRefusal(reasons: reasons).problem }
}

extension AwaitedByOther: RequestRefusal {
  var problem: Problem {
    ProblemKind.uploadInUse.problem("Another post awaits an upload that the submission names.")
  }
}

extension Idempotency.Fault: RequestRefusal {
  var problem: Problem {
    switch self {
    case .running:
      ProblemKind.idempotencyKeyRunning.problem(
        "The first request with this Idempotency-Key is still being processed.", headers: ["Retry-After": "1"])
    case .otherPayload:
      ProblemKind.idempotencyKeyReused.problem(
        "An earlier request with this Idempotency-Key had a different payload.")
    }
  }
}
