import Blobs
import Glibc
import MediaProcess
import Platform
import Postgres
import Testing

@testable import Worker

@Suite("What an error makes of an attempt")
struct AttemptEndingTests {
  enum Outcome: Sendable {
    case proven, doubtful, interrupted, unable, failed
  }

  @Test(
    "faults of ours cost nothing, kills from outside say nothing, and only what is alone is proven",
    arguments: [
      (MediaFailure(.crashed, ""), true, Outcome.proven),
      (MediaFailure(.crashed, ""), false, .doubtful),
      (MediaFailure(.memoryLimitExceeded, ""), true, .proven),
      (MediaFailure(.deadlineExceeded, ""), true, .proven),
      (MediaFailure(.interrupted, ""), true, .interrupted),
      (MediaFailure(.outOfSpace, ""), true, .unable),
      (MediaFailure(.unavailable, ""), true, .unable),
      (MediaFailure(.internal, ""), true, .failed),
      (MediaFailure(.protocolViolation, ""), true, .failed),
    ])
  func media(_ failure: MediaFailure, isIsolated: Bool, _ expected: Outcome) {
    #expect(outcome(AttemptEnding(failure, isIsolated: isIsolated)) == expected)
  }

  @Test("a storage that cannot be read or written, and a database that is away, are nobody's fault")
  func storage() {
    for code in [EROFS, ENOSPC, EIO, ESTALE, EDQUOT, EMFILE] {
      let error = BlobError.system(SystemError(call: "open", code: code))
      #expect(outcome(AttemptEnding(error, isIsolated: false)) == .unable)
    }
    #expect(outcome(AttemptEnding(BlobError.away("not mounted"), isIsolated: false)) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.unavailable, ""), isIsolated: false)) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.server, "", sqlState: "53100"), isIsolated: false)) == .unable)
    #expect(outcome(AttemptEnding(PostgresError(.server, "", sqlState: "42601"), isIsolated: false)) == .failed)
  }

  private func outcome(_ ending: AttemptEnding) -> Outcome? {
    switch ending {
    case .broken(_, _, isProven: true): .proven
    case .broken: .doubtful
    case .interrupted: .interrupted
    case .unable: .unable
    case .failed: .failed
    default: nil
    }
  }
}
