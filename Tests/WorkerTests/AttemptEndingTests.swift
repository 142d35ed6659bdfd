import Blobs
import Glibc
import MediaProcess
import Platform
import Postgres
import Testing

@testable import Worker

@Suite("Endings of attempts by error")
struct AttemptEndingTests {
  enum Outcome: Sendable {
    case confirmed, unconfirmed, interrupted, unable, failed
  }

  @Test(
    "an outage and a kill are not failures of the media, and only an isolated crash is confirmed",
    arguments: [
      (MediaFailure(.crashed, ""), true, Outcome.confirmed),
      (MediaFailure(.crashed, ""), false, .unconfirmed),
      (MediaFailure(.memoryLimitExceeded, ""), true, .confirmed),
      (MediaFailure(.deadlineExceeded, ""), true, .confirmed),
      (MediaFailure(.interrupted, ""), true, .interrupted),
      (MediaFailure(.outOfSpace, ""), true, .unable),
      (MediaFailure(.unavailable, ""), true, .unable),
      (MediaFailure(.internal, ""), true, .failed),
      (MediaFailure(.protocolViolation, ""), true, .failed),
    ])
  func media(_ failure: MediaFailure, isIsolated: Bool, _ expected: Outcome) {
    #expect(outcome(AttemptEnding(failure, isIsolated: isIsolated)) == expected)
  }

  @Test("unavailable storage and an unavailable database are outages")
  func storage() {
    for code in [EROFS, ENOSPC, EIO, ESTALE, EDQUOT, EMFILE] {
      let error = BlobError.system(SystemError(call: "open", code: code))
      #expect(outcome(AttemptEnding(error, isIsolated: false)) == .unable)
    }
    #expect(outcome(AttemptEnding(BlobError.unavailable("not mounted"), isIsolated: false)) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.unavailable, ""), isIsolated: false)) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.server, "", sqlState: "53100"), isIsolated: false)) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.server, "", sqlState: "42601"), isIsolated: false)) == .failed)
  }

  private func outcome(_ ending: AttemptEnding) -> Outcome? {
    switch ending {
    case .broken(_, _, isConfirmed: true): .confirmed
    case .broken: .unconfirmed
    case .interrupted: .interrupted
    case .unable: .unable
    case .failed: .failed
    default: nil
    }
  }
}
