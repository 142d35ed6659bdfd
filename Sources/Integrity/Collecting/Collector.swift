package import Blobs
import Crypto
import Platform
package import Postgres
package import Store

/// Removes what nothing refers to.
///
/// It may be done while others write, in any number of places at once: each step is a short transaction that decides under
/// the locks which writers take too. An age decides only for how long a replaced set stays readable.
package struct Collector: Sendable {
  let pool: Pool
  let store: Store
  let blobs: any InspectableBlobStore
  let grace: Duration
  let progress: @Sendable (Double) -> Void

  private static let batch = 100
  static let page = 1000

  /// - Parameters:
  ///   - grace: how long a set stays readable after another took its place.
  ///   - progress: told how far it has come, 0 to 1.
  package init(
    pool: Pool, store: Store, blobs: any InspectableBlobStore, grace: Duration,
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) {
    self.pool = pool
    self.store = store
    self.blobs = blobs
    self.grace = grace
    self.progress = progress
  }

  /// Removes it; what it was. While a hold stands sets are dropped, and everything else stays.
  package func run() async throws -> CollectReport {
    var report = CollectReport(isDryRun: false)
    report.heldUntil = try await pool.run { [store] session in try store.collectingHold(session) }
    try await dropSets(&report)
    try await dropAnswers(&report)
    if report.heldUntil == nil {
      try await collectBlobs(&report)
      try await collectFiles(&report)
    }
    progress(1)
    return report
  }

  private func dropSets(_ report: inout CollectReport) async throws {
    while true {
      let dropped = try await pool.transaction { [store, grace] session in
        try store.dropRetired(olderThan: grace, limit: Self.batch, session)
      }
      report.retiredSets += dropped
      if dropped < Self.batch { break }
    }
    var last: Int64 = 0
    while let page = try await overdue(after: last) {
      last = page.last
      let loose = page.sets.filter { !$0.isRetired }.map(\.number)
      guard !loose.isEmpty else { continue }
      report.orphanSets += try await pool.transaction { [store] session in try store.dropOrphans(loose, session) }
    }
    progress(0.1)
  }

  private func dropAnswers(_ report: inout CollectReport) async throws {
    while true {
      let dropped = try await pool.run { [store] session in try store.dropExpiredAnswers(session) }
      report.answers += dropped
      if dropped == 0 { return }
    }
  }

  private func collectBlobs(_ report: inout CollectReport) async throws {
    while true {
      let collected = try await pool.transaction { [store] session in
        try store.collectReleased(limit: Self.batch, session)
      }
      report.blobs += CollectReport.Amount(collected)
      if collected.examined == 0 { break }
    }
    // What no release tells of: its asset was removed by hand.
    var last: [UInt8] = []
    while let page = try await orphanBlobs(after: last) {
      last = page.last
      var rest = page.hashes[...]
      while !rest.isEmpty {
        let batch = Array(rest.prefix(Self.batch))
        rest = rest.dropFirst(Self.batch)
        report.blobs += CollectReport.Amount(
          try await pool.transaction { [store] session in try store.collect(batch, session) })
      }
    }
    progress(0.4)
  }

  private func collectFiles(_ report: inout CollectReport) async throws {
    try await forEachOrphan { hash, bytes in
      let isCollected = try await pool.transaction { [store] session in
        try store.collectOrphan(hash, bytes: bytes, session)
      }
      if isCollected { report.orphanFiles += CollectReport.Amount(count: 1, bytes: bytes) }
    }
    let blobs = blobs
    report.stagedFiles = CollectReport.Amount(
      try await onThread("collect") { try blobs.removeLeftovers() })
  }

  /// Every file that had no row when it was looked for; whether it will have one is still to be seen.
  func forEachOrphan(_ body: (SHA256Digest, Int64) async throws -> Void) async throws {
    let blobs = blobs
    for part in 0..<blobs.parts {
      let holdings = try await onThread("collect") { try blobs.holdings(inPart: part) }
      for hash in try await holdings.rowless(pool) { try await body(hash, holdings.blobs[hash] ?? 0) }
      progress(0.4 + 0.6 * Double(part + 1) / Double(blobs.parts))
    }
  }

  /// Sets that nobody has any more, of a page of all.
  func overdue(after last: Int64) async throws -> (sets: [(number: Int64, isRetired: Bool)], last: Int64)? {
    try await pool.run { [grace] session in
      let end = try session.execute(Integrity.statements["last_set"], .integer(last), .integer(Self.page)).single()
        .get("id", as: Int64?.self)
      guard let end else { return nil }
      let sets = try session.execute(
        Integrity.statements["overdue"], .integer(last), .integer(Self.page), .double(grace / .seconds(1))
      ).map { (number: try $0.get("id", as: Int64.self), isRetired: try $0.get("is_retired", as: Bool.self)) }
      return (sets, end)
    }
  }

  private func orphanBlobs(after last: [UInt8]) async throws -> (hashes: [SHA256Digest], last: [UInt8])? {
    try await pool.run { session in
      let end = try session.execute(Integrity.statements["last_blob"], .bytes(last), .integer(Self.page)).first?
        .get("hash", as: [UInt8].self)
      guard let end else { return nil }
      let rows = try session.execute(Integrity.statements["loose_blobs"], .bytes(last), .integer(Self.page))
      return (try rows.compactMap { SHA256Digest(bytes: try $0.get("hash")) }, end)
    }
  }
}

extension CollectReport.Amount {
  init(_ collected: Collected) { self.init(count: collected.blobs, bytes: collected.bytes) }

  init(_ files: [StoredFile]) { self.init(count: files.count, bytes: files.reduce(0) { $0 + $1.bytes }) }
}
