internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The bytes of uploads.
extension UploadRoutes {
  /// Appends the body of a request to an upload as it arrives. What has arrived stays, whatever ends the request.
  func append(
    _ request: Request, _ dialect: UploadDialect, _ appending: UploadDialect.Appending, to record: UploadRecord
  ) async throws -> UploadDialect.State {
    try await turns.take(record.id, request) {
      try await refusing(record) { try await appendOnTurn(request, dialect, appending, to: record) }
    }
  }

  /// Makes an upload whole whose file has its length, on the turn of a request; returns its state.
  func completeAtLength(_ record: UploadRecord, _ request: Request) async throws -> UploadDialect.State {
    guard let file = try uploads.folder().open(record.id) else { throw LocalUploads.notFound("\(record.id)") }
    let offset = try file.synchronizedState().offset
    return try await refusing(record) {
      let content = uploads.contents.take(record.id, upTo: offset) ?? content(of: record)
      _ = try content.append(file, upTo: offset)
      try await complete(file, content, of: record, request)
      return UploadDialect.State(offset: offset, length: offset, isWhole: true)
    }
  }

  /// Runs a step of an upload; what it throws because nothing can be made of the upload lasts.
  private func refusing<Result>(_ record: UploadRecord, _ step: () async throws -> Result) async throws -> Result {
    do {
      return try await step()
    } catch let refusal as UploadRefusal {
      // Neither this client nor another one sends more bytes.
      uploads.contents.forget(record.id)
      let refused = try uploads.folder().update(record.id) { $0.refusal = refusal.reason }
      if let post = refused?.awaited?.post { uploads.awaitingPosts.reconsider(post) }
      throw refusal
    } catch let overrun as UploadOverrun {
      let post = try uploads.folder().record(record.id)?.awaited?.post
      uploads.remove([record.id])
      if let post { uploads.awaitingPosts.reconsider(post) }
      throw overrun.problem
    }
  }

  private func appendOnTurn(
    _ request: Request, _ dialect: UploadDialect, _ appending: UploadDialect.Appending, to former: UploadRecord
  ) async throws -> UploadDialect.State {
    // Read again: the request before may have changed it.
    guard let current = try uploads.folder().record(former.id) else { throw LocalUploads.notFound("\(former.id)") }
    if let reason = current.refusal { throw UploadRefusal(reason) }
    let state = try uploads.state(of: current)
    guard state.offset == appending.offset else { throw Self.offset(state.offset, not: appending.offset) }
    if state.isWhole { return try await repeated(appending, of: state.offset, request, dialect) }
    guard let file = try uploads.folder().open(former.id) else { throw LocalUploads.notFound("\(former.id)") }
    let record = try await known(appending, of: current, request, dialect)
    let content = uploads.contents.take(record.id, upTo: state.offset) ?? content(of: record)
    let rest = { (offset: Int64) in
      (record.length ?? request.head.contentLength.map { state.offset + $0 }).map { $0 - offset }
    }
    if let reason = try content.append(file, upTo: state.offset) { try refuse(reason, rest: rest(state.offset)) }
    do {
      try await receive(request, dialect, into: file, content, of: record, rest: rest)
    } catch {
      uploads.contents.keep(content, of: record.id)
      throw error
    }
    let offset = content.offset
    guard dialect.isWhole(offset, of: record.length, with: appending) else {
      uploads.contents.keep(content, of: record.id)
      return UploadDialect.State(offset: try file.synchronizedState().offset, length: record.length, isWhole: false)
    }
    if let length = record.length, length != offset {
      uploads.contents.keep(content, of: record.id)
      _ = try file.synchronizedState()
      throw ProblemKind.uploadLength.problem("The upload ends at \(offset), and its length is \(length) bytes.")
    }
    try await complete(file, content, of: record, request)
    return UploadDialect.State(offset: offset, length: offset, isWhole: true)
  }

  /// The state of a whole upload for a client that repeats the last request, whose response it has not received. Bytes are
  /// refused.
  private func repeated(
    _ appending: UploadDialect.Appending, of length: Int64, _ request: Request, _ dialect: UploadDialect
  ) async throws -> UploadDialect.State {
    try check(appending.length, is: length)
    for try await chunk in request.body where !chunk.isEmpty {
      guard dialect == .tus else {
        throw ProblemKind.uploadLength.problem("The upload is whole: its length is \(length) bytes.")
      }
      throw ProblemKind.uploadWhole.problem("The upload is whole.", headers: ["Upload-Offset": "\(length)"])
    }
    return UploadDialect.State(offset: length, length: length, isWhole: true)
  }

  /// Throws a problem if a body would pass the length of its upload, or without one the maximum.
  ///
  /// - Parameters:
  ///   - count: the length of the body; nil: it is chunked.
  ///   - length: the length of the upload; nil: it is not known.
  func check(
    _ count: Int64?, from offset: Int64, of length: Int64?, _ dialect: UploadDialect
  ) throws(Problem) {
    guard let count, count > (length ?? maxUploadBytes) - offset else { return }
    throw tooLong(length, dialect)
  }

  /// The problem of a body that passes the length of its upload, or without one the maximum.
  private func tooLong(_ length: Int64?, _ dialect: UploadDialect) -> Problem {
    let limit = length == nil ? "maximum" : "length of the upload"
    let detail = "The body passes the \(limit), \(length ?? maxUploadBytes) bytes."
    return (length == nil || dialect == .tus ? ProblemKind.uploadTooLarge : .uploadLength).problem(detail)
  }

  /// Ends an upload whose bytes show that it will be rejected, if that saves the client many bytes. Otherwise the submission that
  /// names it is refused, with all reasons of all its files.
  private func refuse(_ reason: Reason, rest: Int64?) throws(UploadRefusal) {
    if rest ?? .max > ArrivingFile.shortRest { throw UploadRefusal(reason) }
  }

  /// The number of bytes after which a client of a draft learns that they are on the disk.
  private static let reportedBytes: Int64 = 4 << 20

  /// The number of bytes for which space is reserved ahead of those that have arrived, if the length is known.
  private static let reservedBytes: Int64 = 4 << 20

  /// What is computed of an upload from its first byte on. A file that a post awaits is judged as the part that it is.
  private func content(of record: UploadRecord) -> ArrivingContent {
    let part = record.awaited.flatMap { MediaPart(rawValue: $0.part) }
    return ArrivingContent(accepting: part.map(definitions.accepted) ?? definitions.anyUse, length: record.length)
  }

  private func receive(
    _ request: Request, _ dialect: UploadDialect, into file: UploadFile, _ content: ArrivingContent,
    of record: UploadRecord, rest: (Int64) -> Int64?
  ) async throws {
    let length = record.length
    var reserved = content.offset
    let interim = dialect == .draft ? dialect.interim(request) : nil
    var reported = content.offset
    for try await chunk in request.body {
      let offset = content.offset
      guard offset + Int64(chunk.count) <= length ?? maxUploadBytes else {
        let problem = tooLong(length, dialect)
        // The current draft, section 4.4.2: the upload is invalid from here on.
        if dialect == .draft, length != nil { throw UploadOverrun(problem: problem) }
        throw problem
      }
      let end = offset + Int64(chunk.count)
      if let length, end > reserved {
        // Neither is more than the length.
        reserved = end + min(length - end, Self.reservedBytes)
        try file.reserve(reserved)
        uploads.openUploads.reserve(reserved, of: record.id)
      }
      let isAppended = try chunk.withUnsafeBytes { bytes in try file.append(bytes, at: offset) }
      guard isAppended else { throw Self.offset(try file.synchronizedState().offset, not: offset) }
      if let reason = chunk.withUnsafeBytes({ content.append($0) }) { try refuse(reason, rest: rest(content.offset)) }
      guard content.offset - reported >= Self.reportedBytes, let interim else { continue }
      reported = try file.synchronizedState().offset
      request.sendInterim(.uploadResumptionSupported, interim.adding("Upload-Offset", "\(reported)"))
    }
  }

  /// Makes an upload whole, unless its bytes are not those that the client has announced.
  private func complete(
    _ file: UploadFile, _ content: ArrivingContent, of record: UploadRecord, _ request: Request
  ) async throws {
    let offset = content.offset
    guard let hash = content.finish() else { preconditionFailure("the content of an upload is finished once") }
    if let announced = record.digest, announced != hash.hex {
      // The right one stays unsaid: it would help to find bytes for a digest.
      throw UploadRefusal(Reason(.digestMismatch, input: nil, finding: "the SHA-256 of the bytes is another one"))
    }
    // What a client sends without a length counts once it is known.
    _ = try await charge(request, to: record, upTo: offset)
    guard try file.complete(at: offset) else { throw Self.offset(try file.synchronizedState().offset, not: offset) }
    uploads.contents.keep(hash, of: record.id)
    uploads.reconsider(awaiting: record.id)
  }

  /// Returns the record with the length that a request says; throws a problem if an earlier one has said another, or if the
  /// length, the maximum or the client's quota does not permit the bytes that it is about to send.
  private func known(
    _ appending: UploadDialect.Appending, of record: UploadRecord, _ request: Request, _ dialect: UploadDialect
  ) async throws -> UploadRecord {
    let length = appending.length
    try check(length, is: record.length)
    try check(length: length)
    let count = request.head.contentLength
    // Before any sum: a body may be said to have 2^63 - 1 bytes.
    try check(count, from: appending.offset, of: length ?? record.length, dialect)
    let end = length ?? record.length ?? count.map { appending.offset + $0 }
    let charged = try await charge(request, to: record, upTo: end)
    guard charged != record.charged || length != nil && length != record.length else { return record }
    let changed = try uploads.folder().update(record.id) { record in
      if let length { record.length = length }
      record.charged = charged
    }
    guard let changed else { throw LocalUploads.notFound("\(record.id)") }
    uploads.openUploads.update(changed)
    return changed
  }

  /// Throws a problem if a request says another length than an earlier one has said.
  private func check(_ length: Int64?, is former: Int64?) throws(Problem) {
    guard let length, let former, length != former else { return }
    throw ProblemKind.uploadLength.problem("The length of the upload is \(former) bytes, not \(length).")
  }

  /// Counts the bytes of an upload up to an offset for the quotas of its client; returns the bytes that now count for it.
  func charge(_ request: Request, to record: UploadRecord, upTo end: Int64?) async throws -> Int64? {
    guard let end, end > record.charged ?? 0, kit.quotas.hasAny else { return record.charged }
    let usage = DailyUsage(bytes: end - (record.charged ?? 0))
    let senders = kit.quotas.senders(request.caller, author: nil)
    if !senders.isEmpty {
      try await database.transaction { session in try Quotas.charge(senders, usage, session) }
    }
    return end
  }

  private static func offset(_ expected: Int64, not given: Int64) -> Problem {
    ProblemKind.uploadOffset.problem(
      "The next byte is at \(expected), not at \(given).",
      members: [
        .init(name: "expected-offset", value: .integer(expected)),
        .init(name: "provided-offset", value: .integer(given)),
      ], headers: ["Upload-Offset": "\(expected)", "Cache-Control": "no-store"])
  }
}

/// The end of an upload of which nothing can be made.
struct UploadRefusal: Error {
  let reason: Reason

  init(_ reason: Reason) { self.reason = reason }
}

/// More bytes than the length of the upload, of a client that speaks the current draft.
private struct UploadOverrun: Error {
  let problem: Problem
}

extension Reason {
  /// The problem of an upload that has the reason.
  var problem: Problem {
    code == .digestMismatch ? ProblemKind.digestMismatch.problem(detail) : MediaRefusal(reasons: [self]).problem
  }
}
