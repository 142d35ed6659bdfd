import Blobs
import Model
import Platform
import Postgres
import Store
import Testing

@testable import take5

@Suite("What a start waits for, and how often it says so")
struct LastingReportTests {
  @Test("a state that lasts is reported at its beginning and then seldom, and its end once")
  func lasting() {
    var report = LastingReport()
    let start = ContinuousClock.now
    func isDue(after pause: Duration) -> Bool { report.isDue(at: start + pause) }
    func hasEnded() -> Bool { report.end() }
    #expect(!report.hasBegun)
    #expect(!hasEnded())
    #expect(isDue(after: .zero))
    #expect(report.hasBegun)
    #expect(!isDue(after: .seconds(1)))
    #expect(!isDue(after: LastingReport.interval - .seconds(1)))
    #expect(isDue(after: LastingReport.interval))
    #expect(!isDue(after: LastingReport.interval + .seconds(1)))
    #expect(hasEnded())
    #expect(!hasEnded())
    #expect(isDue(after: LastingReport.interval + .seconds(2)))
  }

  @Test("a start waits for a storage that is sick and a database that is away, and not for another store's")
  func outages() {
    let outages: [any Error] = [
      BlobError.unavailable("no answer"), BlobError.refused("403 AccessDenied", reason: "no"),
      BlobError.system(SystemError(call: "open", code: 5)), BlobFolderRefusal.unmarked(expected: .now()),
      BlobFolderRefusal.lacksNewest, DataFolderAway(failure: CommandFailure(.inputMissing, "no folder")),
      PostgresError(.connectionLost, "lost"),
      PostgresError(.exhausted, "all connections were busy"), PostgresError(.server, "timeout", sqlState: "57014"),
      PostgresError(.server, "lock", sqlState: "55P03"), PostgresError(.server, "deadlock", sqlState: "40P01"),
    ]
    for outage in outages { #expect(BlobWait.mayPass(outage), "\(outage)") }
    let others: [any Error] = [
      BlobFolderRefusal.another(.now(), expected: .now()), BlobFolderRefusal.itself(.now()),
      CommandFailure(.inputMissing, "no folder"), PostgresError(.server, "no table", sqlState: "42P01"),
    ]
    for other in others { #expect(!BlobWait.mayPass(other), "\(other)") }
  }

  @Test(
    "an outage of the database passes, and a wrong password, name or database does not",
    arguments: [
      (nil, true), ("57P03", true), ("53300", true), ("28P01", false), ("28000", false), ("3D000", false),
      ("42501", false),
    ] as [(String?, Bool)])
  func refusals(_ state: String?, _ isOutage: Bool) {
    #expect(PostgresError(.unavailable, "connection refused", sqlState: state).isOutage == isOutage)
  }

  @Test("a server that is read-only, full or gone is an outage, and a refused statement is not")
  func statements() {
    for state in ["25006", "53100", "53200"] {
      #expect(PostgresError(.server, "no", sqlState: state).isOutage, "\(state)")
    }
    #expect(PostgresError(.connectionLost, "gone").isOutage)
    #expect(!PostgresError(.server, "no", sqlState: "23505").isOutage)
  }
}
