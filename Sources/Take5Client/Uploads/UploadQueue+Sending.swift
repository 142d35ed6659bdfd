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

private struct SubmittedPost: Decodable {
  struct Job: Decodable {}
  var status: PostStatus
  var job: Job?
  var reasons: [Reason]
}
