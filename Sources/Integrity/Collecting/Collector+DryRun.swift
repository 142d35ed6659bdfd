import Blobs
import Crypto
import Platform
import Postgres
import Store

extension Collector {
  /// Tells what `run` would remove at this moment, and changes nothing.
  package func dryRun() async throws -> CollectReport {
    var report = CollectReport(isDryRun: true)
    report.heldUntil = try await pool.run { [store] session in try store.collectingHold(session) }
    var last: Int64 = 0
    while let page = try await overdue(after: last) {
      last = page.last
      report.retiredSets += page.sets.count(where: \.isRetired)
      report.orphanSets += page.sets.count { !$0.isRetired }
    }
    report.answers = try await pool.run { session in try Store.expiredAnswers(session) }
    progress(0.1)
    guard report.heldUntil == nil else { return report }
    try await countBlobs(&report)
    try await forEachOrphan { hash, bytes in
      let isOrphan = try await pool.transaction { [store] session in try store.isOrphan(hash, session) }
      if isOrphan { report.orphanFiles += Amount(count: 1, bytes: bytes) }
    }
    let blobs = blobs
    report.stagedFiles = Amount(try await onThread("collect") { try blobs.leftovers() })
    return report
  }

  private typealias Amount = CollectReport.Amount

  private func countBlobs(_ report: inout CollectReport) async throws {
    var last: [UInt8] = []
    while true {
      let page = try await pool.run { [last, grace] session -> (end: [UInt8], amount: Amount)? in
        let end = try session.execute(Integrity.statements["last_blob"], .bytes(last), .integer(Self.page)).first?
          .get("hash", as: [UInt8].self)
        guard let end else { return nil }
        let row = try session.execute(
          Integrity.statements["spare_blobs"], .bytes(last), .integer(Self.page), .double(grace / .seconds(1))
        ).single()
        return (end, Amount(count: try row.get("blobs"), bytes: try row.get("bytes")))
      }
      guard let page else { break }
      last = page.end
      report.blobs += page.amount
    }
    progress(0.4)
  }
}
