import Blobs
import Crypto
import Definitions
import Glibc
import MediaProcess
import Model
import Platform
import Postgres
import Testing

@testable import Store
@testable import Worker

@Suite("Endings of attempts by error")
struct AttemptEndingTests {
  enum Outcome: Sendable {
    case broken, interrupted, unable, failed
  }

  @Test(
    "a crash and an exceeded limit are caused by the media, an outage and a kill are not",
    arguments: [
      (MediaFailure(.crashed, ""), Outcome.broken),
      (MediaFailure(.memoryLimitExceeded, ""), .broken),
      (MediaFailure(.deadlineExceeded, ""), .broken),
      (MediaFailure(.interrupted, ""), .interrupted),
      (MediaFailure(.outOfSpace, ""), .unable),
      (MediaFailure(.unavailable, ""), .unable),
      (MediaFailure(.internal, ""), .failed),
      (MediaFailure(.protocolViolation, ""), .failed),
    ])
  func media(_ failure: MediaFailure, _ expected: Outcome) throws {
    #expect(outcome(AttemptEnding(failure, of: try .sample)) == expected)
    #expect(outcome(AttemptEnding(PhotoFailure(failure, times: [.zero]), of: try .sample)) == expected)
  }

  @Test("the photo that failed is the cause, or the slowest one if the deadline that all share has passed")
  func photos() {
    let times: [Duration] = [.seconds(1), .seconds(9), .seconds(2)]
    #expect(PhotoFailure(MediaFailure(.crashed, ""), times: times).index == 2)
    #expect(PhotoFailure(MediaFailure(.memoryLimitExceeded, ""), times: times).index == 2)
    #expect(PhotoFailure(MediaFailure(.deadlineExceeded, ""), times: times).index == 1)
  }

  @Test("unavailable storage and an unavailable database are outages")
  func storage() {
    for code in [EROFS, ENOSPC, EIO, ESTALE, EDQUOT, EMFILE] {
      let error = BlobError.system(SystemError(call: "open", code: code))
      #expect(outcome(AttemptEnding(error)) == .unable)
    }
    #expect(outcome(AttemptEnding(BlobError.unavailable("not mounted"))) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.unavailable, ""))) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.server, "", sqlState: "53100"))) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.server, "", sqlState: "42601"))) == .failed)
  }

  @Test("a damaged or missing source is neither an outage nor a failure")
  func damage() {
    let hash = SHA256.digest(of: [1])
    for error in [BlobError.missing(hash), .damaged(hash, .corrupt)] {
      guard case .damaged(error, hash) = AttemptEnding(error) else {
        Issue.record("\(error) gives \(AttemptEnding(error))")
        continue
      }
    }
  }

  private func outcome(_ ending: AttemptEnding) -> Outcome? {
    switch ending {
    case .broken: .broken
    case .interrupted: .interrupted
    case .unable: .unable
    case .failed: .failed
    default: nil
    }
  }
}

extension Work {
  /// Work on one photo that no store holds.
  static var sample: Work {
    get throws {
      Work(
        subject: .post(.now()), definitionHash: SHA256.digest(of: []),
        content: .photos(
          Photos(definition: try #require(try Definitions.photo("photo-post")), photos: [SHA256.digest(of: [1])])),
        sources: [:])
    }
  }
}
