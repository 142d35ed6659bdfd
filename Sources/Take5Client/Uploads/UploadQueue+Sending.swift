import Foundation

extension UploadQueue {
  /// Why a submission is not sent any more.
  enum End { case sent, signedOut, refused, cancelled }

  /// Sends a submission until it is sent, refused or cancelled.
  func run(_ id: UUID) async -> End {
    var (failures, result) = (0, String?.none)
    while !Task.isCancelled {
      guard folder.contains(id) else { return vanished(id, result) }
      guard let claim = folder.claim(id), var record = folder.read(id) else {
        // Another queue of this folder sends it.
        result = folder.read(id)?.result ?? result
        await pause(id, 1)
        continue
      }
      defer { withExtendedLifetime(claim) {} }
      let before = record.sent
      do throws(Take5Error) {
        enter(.sending, record)
        let result = try await advance(&record)
        folder.remove(id)
        finish(id, .success(result))
        return .sent
      } catch {
        failures = record.sent > before ? 1 : failures + 1
        switch Remedy(error, failures: failures, of: record) {
        case .wait(let seconds):
          enter(.waiting, record)
          await pause(id, seconds)
        case .ask: break
        case .look: if await gone(record) { return .sent }
        case .signIn:
          enter(.signedOut, record)
          return .signedOut
        case .stop: return .cancelled
        case .fail: return fail(record, error)
        }
      }
    }
    return .cancelled
  }

  /// A disk that is full costs no submission: what is not stored is asked of the service after the next start.
  private func save(_ record: UploadRecord) {
    do throws(Take5Error) { try folder.save(record) } catch {}
  }

  /// Does what is left to do; returns the id of what was submitted.
  private func advance(_ record: inout UploadRecord) async throws(Take5Error) -> String {
    var created: Set<Int> = []
    for index in record.files.indices where record.files[index].upload == nil {
      record.files[index].upload = try await create(record.files[index], of: record.user)
      created.insert(index)
      save(record)
    }
    if record.isSubmittedFirst { try await submit(&record) }
    for index in record.files.indices where !record.files[index].isWhole {
      try await send(index, of: &record, isNew: created.contains(index))
      save(record)
    }
    try await submit(&record)
    guard let result = record.result else { throw .unreadable("the submission has no id") }
    return result
  }

  private func create(_ file: UploadRecord.File, of user: String) async throws(Take5Error) -> String {
    var request = Request("POST", "/v1/uploads")
    request.user = user
    request.headers = ["Upload-Complete": "?0", "Upload-Length": "\(file.length)"]
    let location = try await connection.response(request).header("Location")
    guard let id = location?.split(separator: "/").last else { throw .unreadable("an upload has no Location") }
    return String(id)
  }

  /// Submits it, once: a repetition with its key gets the first response.
  private func submit(_ record: inout UploadRecord) async throws(Take5Error) {
    guard record.result == nil else { return }
    let path = record.post.map { Request.path("v1", "posts", $0, "reactions") } ?? "/v1/posts"
    var request = Request("POST", path, json: record.body, key: record.key)
    (request.retries, request.user) = (0, record.user)
    // A repetition after the end of the app must have the same body as this one.
    do throws(Take5Error) { try folder.save(record) } catch { throw .problem(.deviceFull) }
    let submitted: Identified = try await connection.value(request)
    record.result = submitted.id
    save(record)
  }

  private func send(_ index: Int, of record: inout UploadRecord, isNew: Bool) async throws(Take5Error) {
    let file = record.files[index]
    guard let upload = file.upload else { return }
    await sender.adopt(upload)
    if !isNew {
      var request = Request("HEAD", Request.path("v1", "uploads", upload))
      request.user = record.user
      let response = try await connection.response(request)
      guard let offset = response.header("Upload-Offset").flatMap(Int64.init), (0...file.length).contains(offset) else {
        throw .unreadable("an upload has no offset")
      }
      record.files[index].offset = offset
      // One that was refused counts as complete: the next part then gets the reason.
      record.files[index].isWhole = offset == file.length && response.header("Upload-Complete") == "?1"
      progress(record)
      if record.files[index].isWhole { return }
    }
    let (others, reported) = (record, Reported(record.files[index].offset))
    let url = folder.file(file, of: record.id)
    defer { record.files[index].offset = reported.value }
    try await sender.send(url, from: record.files[index].offset, length: file.length, to: upload, of: record.user) { offset in
      reported.value = offset
      var record = others
      record.files[index].offset = offset
      await self.progress(record)
    }
    (reported.value, record.files[index].isWhole) = (file.length, true)
  }

  private func progress(_ record: UploadRecord) {
    report(record) { ($0.phase, $0.sentBytes) = (.sending, record.sent) }
  }

  /// The service has an upload no more. Returns whether that ends the submission.
  private func gone(_ record: UploadRecord) async -> Bool {
    if let post = record.result, record.isSubmittedFirst {
      let found: SubmittedPost
      do throws(Take5Error) {
        var request = Request("GET", Request.path("v1", "posts", post))
        request.user = record.user
        found = try await connection.value(request)
      } catch {
        if error.isPassing || error.status == 401 || error == .signedOut { return false }
        _ = fail(record, error)
        return true
      }
      let hasExpired = found.reasons.contains { $0.code == ProblemCode.uploadExpired.rawValue }
      // The last byte arrived, and its response was lost.
      if !hasExpired, found.status != .processing || found.job != nil {
        folder.remove(record.id)
        finish(record.id, .success(post))
        return true
      }
    }
    var next = record
    next.restart()
    do throws(Take5Error) { try folder.save(next) } catch { await pause(record.id, Retry.maxPause) }
    return false
  }

  private func fail(_ record: UploadRecord, _ error: Take5Error) -> End {
    var record = record
    record.failure = error.recorded
    save(record)
    finish(record.id, .failure(error))
    return .refused
  }

  /// Another queue of the folder has sent or removed it.
  private func vanished(_ id: UUID, _ result: String?) -> End {
    finish(id, result.map { .success($0) } ?? .failure(.cancelled))
    return .cancelled
  }
}

/// What `Location` and the body of a submission name.
private struct Identified: Decodable {
  var id: String
}

private struct SubmittedPost: Decodable {
  struct Job: Decodable {}
  var status: PostStatus
  var job: Job?
  var reasons: [Reason]
}

/// The last offset that the service has reported.
private final class Reported: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Int64
  init(_ value: Int64) { stored = value }
  var value: Int64 {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
