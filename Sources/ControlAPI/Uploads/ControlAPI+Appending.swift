internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model

/// The bytes of uploads.
extension ControlAPI {
  /// Appends the body of a request to an upload as it arrives. What has arrived stays, whatever ends the request.
  func append(
    _ request: Request, _ dialect: UploadDialect, _ appending: UploadDialect.Appending, to record: UploadRecord
  ) async throws -> UploadDialect.State {
    try mediaSpace.check()
    return try await uploadParts.admit(request.client) {
      try await uploadTurns.take(record.id, request) {
        do {
          return try await appendOnTurn(request, dialect, appending, to: record)
        } catch let refusal as UploadRefusal {
          // It lasts: neither this client nor another one sends more bytes.
          contents.forget(record.id)
          let refused = try blobs.uploads().update(record.id) { $0.refusal = refusal.reason }
          if let post = refused?.awaited?.post { awaitingPosts.reconsider(post) }
          throw refusal.reason.problem(of: dialect)
        }
      }
    }
  }

  private func appendOnTurn(
    _ request: Request, _ dialect: UploadDialect, _ appending: UploadDialect.Appending, to record: UploadRecord
  ) async throws -> UploadDialect.State {
    guard let file = try blobs.uploads().open(record.id) else { throw Self.uploadNotFound("\(record.id)") }
    let state = try file.synchronizedState()
    guard state.offset == appending.offset else { throw Self.offset(state.offset, not: appending.offset) }
    guard !state.isWhole else {
      throw ProblemKind.uploadWhole.problem("The upload is whole.", headers: ["Upload-Offset": "\(state.offset)"])
    }
    let record = try await known(appending, of: record, request)
    if let length = record.length, state.offset == 0 { try file.reserve(length) }
    let content = contents.take(record.id, upTo: state.offset) ?? content(of: record)
    if let reason = try content.append(file, upTo: state.offset) { throw UploadRefusal(reason) }
    do {
      try await receive(request, dialect, into: file, content, limit: record.length ?? maxUploadBytes)
    } catch {
      contents.keep(content, of: record.id)
      throw error
    }
    let offset = content.offset
    guard offset == record.length || record.length == nil && appending.isComplete else {
      contents.keep(content, of: record.id)
      return UploadDialect.State(offset: try file.synchronizedState().offset, length: record.length, isWhole: false)
    }
    try await complete(file, content, of: record, request)
    return UploadDialect.State(offset: offset, length: offset, isWhole: true)
  }

  /// The number of bytes after which a client of a draft learns that they are on the disk.
  private static let reportedBytes: Int64 = 4 << 20

  /// What is computed of an upload from its first byte on. A file that a post awaits is judged as the part that it is.
  private func content(of record: UploadRecord) -> ArrivingContent {
    let part = record.awaited.flatMap { SubmissionPart(rawValue: $0.part) }
    return ArrivingContent(accepting: part.map(definitions.accepted) ?? definitions.anyUse, length: record.length)
  }

  private func receive(
    _ request: Request, _ dialect: UploadDialect, into file: UploadFile, _ content: ArrivingContent, limit: Int64
  ) async throws {
    var reported = content.offset
    for try await chunk in request.body {
      let offset = content.offset
      guard offset + Int64(chunk.count) <= limit else {
        throw ProblemKind.uploadTooLarge.problem("The body passes the length of the upload, \(limit) bytes.")
      }
      let isAppended = try chunk.withUnsafeBytes { bytes in try file.append(bytes, at: offset) }
      guard isAppended else { throw Self.offset(try file.synchronizedState().offset, not: offset) }
      if let reason = chunk.withUnsafeBytes({ content.append($0) }) { throw UploadRefusal(reason) }
      guard content.offset - reported >= Self.reportedBytes, let fields = dialect.interim(request.head, [:]) else {
        continue
      }
      reported = try file.synchronizedState().offset
      request.sendInterim(.uploadResumptionSupported, fields.adding("Upload-Offset", "\(reported)"))
    }
  }

  /// Makes an upload whole, unless its bytes are not those that the client has announced.
  private func complete(
    _ file: UploadFile, _ content: ArrivingContent, of record: UploadRecord, _ request: Request
  ) async throws {
    let offset = content.offset
    if let reason = content.end() { throw UploadRefusal(reason) }
    guard let hash = content.finish() else { preconditionFailure("the content of an upload is finished once") }
    if let announced = record.digest, announced != hash.hex {
      throw UploadRefusal(Reason(.digestMismatch, input: nil, finding: "the bytes of the upload have another SHA-256 than the announced one"))
    }
    // What a client sends without a length counts once it is known.
    _ = try await charge(request, to: record, upTo: offset)
    guard try file.complete(at: offset) else { throw Self.offset(try file.synchronizedState().offset, not: offset) }
    contents.keep(hash, of: record.id)
    // Read again: a submission may have named the upload meanwhile. One that comes later sees that it is whole.
    if let post = try blobs.uploads().record(record.id)?.awaited?.post { awaitingPosts.reconsider(post) }
  }

  /// Returns the record with the length that a request says; throws a problem if an earlier one has said another, or if the
  /// client's quota does not permit the bytes that it is about to send.
  private func known(
    _ appending: UploadDialect.Appending, of record: UploadRecord, _ request: Request
  ) async throws -> UploadRecord {
    let length = appending.length
    if let length, let former = record.length, length != former {
      throw ProblemKind.uploadLength.problem("The length of the upload is \(former) bytes, not \(length).")
    }
    try check(length: length)
    let end = length ?? record.length ?? request.head.contentLength.map { appending.offset + $0 }
    let charged = try await charge(request, to: record, upTo: end)
    guard charged != record.charged || length != nil && length != record.length else { return record }
    let changed = try blobs.uploads().update(record.id) { record in
      if let length { record.length = length }
      record.charged = charged
    }
    guard let changed else { throw Self.uploadNotFound("\(record.id)") }
    return changed
  }

  /// Counts the bytes of an upload up to an offset for the quotas of its client; returns the bytes that now count for it.
  func charge(_ request: Request, to record: UploadRecord, upTo end: Int64?) async throws -> Int64? {
    guard let end, end > record.charged ?? 0, quotas.hasAny else { return record.charged }
    try await chargeQuota(request, bytes: end - (record.charged ?? 0))
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
private struct UploadRefusal: Error {
  let reason: Reason

  init(_ reason: Reason) { self.reason = reason }
}

extension Reason {
  /// The problem of an upload that has the reason.
  func problem(of dialect: UploadDialect) -> Problem {
    var problem =
      code == .digestMismatch
      ? ProblemKind.digestMismatch.problem(detail) : MediaRefusal(reasons: [self]).problem
    if dialect == .tus { problem.headers["Tus-Resumable"] = UploadDialect.tusVersion }
    return problem
  }
}
