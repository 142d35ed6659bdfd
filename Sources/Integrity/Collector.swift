package import Blobs
import Crypto
import Platform
package import Postgres
package import Store

/// Removes orphans: sets, blobs and files that nothing refers to, staged files, and expired responses.
///
/// Any number of processes may collect while others write: each step is a short transaction that decides under the
/// locks that writers take as well. Ages are only used for the grace period of replaced sets.
package struct Collector: Sendable {
  let pool: Pool
  let store: Store
  let blobs: any InspectableBlobStore
  let grace: Duration
  let progress: @Sendable (Double) -> Void

  private static let batch = 100
  static let page = 1000

  /// - Parameters:
  ///   - grace: the time for which a replaced set stays readable.
  ///   - progress: receives the progress, 0 to 1.
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

  /// Removes all orphans and returns a report. During a hold it removes only sets and responses.
  package func run() async throws -> CollectReport {
    var report = CollectReport(isDryRun: false)
    report.heldUntil = try await pool.run { session in try Collecting.currentHold(session) }
    try await dropSets(&report)
    try await dropAnswers(&report)
    if report.heldUntil == nil {
      try await collectBlobs(&report)
      try await collectFiles(&report)
    }
    try await countWaiting(&report)
    progress(1)
    return report
  }

  private func dropSets(_ report: inout CollectReport) async throws {
    while true {
      let dropped = try await pool.transaction { [grace] session in
        try Assets.dropRetired(olderThan: grace, limit: Self.batch, session)
      }
      report.retiredSets += dropped
      if dropped < Self.batch { break }
    }
    var last: Int64 = 0
    while let page = try await removableSets(after: last) {
      last = page.last
      let orphans = page.sets.filter { !$0.isRetired }.map(\.number)
      guard !orphans.isEmpty else { continue }
      report.orphanSets += try await pool.transaction { session in try Assets.dropOrphans(orphans, session) }
    }
    progress(0.1)
  }

  private func dropAnswers(_ report: inout CollectReport) async throws {
    while true {
      let dropped = try await pool.run { session in try Idempotency.dropExpired(session) }
      report.answers += dropped
      if dropped == 0 { return }
    }
  }

  private func collectBlobs(_ report: inout CollectReport) async throws {
    while true {
      let collected = try await store.collecting.collectReleased(limit: Self.batch, pool)
      report.blobs += CollectReport.Amount(collected)
      if collected.examined == 0 { break }
    }
    // Blobs that were not released: an operator deleted their assets with SQL.
    var last: [UInt8] = []
    while let page = try await orphanBlobs(after: last) {
      last = page.last
      var rest = page.hashes[...]
      while !rest.isEmpty {
        let batch = Array(rest.prefix(Self.batch))
        rest = rest.dropFirst(Self.batch)
        report.blobs += CollectReport.Amount(try await store.collecting.collect(batch, pool))
      }
    }
    progress(0.4)
  }

  private func collectFiles(_ report: inout CollectReport) async throws {
    try await forEachOrphanCandidate { hash, bytes in
      if try await store.collecting.collectOrphan(hash, bytes: bytes, pool) {
        report.orphanFiles += CollectReport.Amount(count: 1, bytes: bytes)
      }
    }
    let blobs = blobs
    report.stagedFiles = CollectReport.Amount(
      try await onThread("collect") { try blobs.removeStagedOrphans() })
  }

  /// Calls `body` with each file without a committed row, unless a post is about to get it; a transaction that inserts a row may
  /// still be open.
  func forEachOrphanCandidate(_ body: (SHA256Digest, Int64) async throws -> Void) async throws {
    let blobs = blobs
    let awaited = Set(try await FinishedUpload.all(blobs, pool).compactMap(\.hash))
    for shard in 0..<blobs.shards {
      let listing = try await onThread("collect") { try blobs.listing(ofShard: shard) }
      for hash in try await listing.orphanCandidates(pool) where !awaited.contains(hash) {
        try await body(hash, listing.blobs[hash] ?? 0)
      }
      progress(0.4 + 0.6 * Double(shard + 1) / Double(blobs.shards))
    }
  }

  /// Reads a page of all sets, and returns the ones that are orphans or retired for longer than the grace period.
  func removableSets(after last: Int64) async throws -> (sets: [(number: Int64, isRetired: Bool)], last: Int64)? {
    try await pool.run { [grace] session in
      let end = try session.execute(Integrity.statements["last_set"], .integer(last), .integer(Self.page)).single()
        .get("id", as: Int64?.self)
      guard let end else { return nil }
      let sets = try session.execute(
        Integrity.statements["removable_sets"], .integer(last), .integer(Self.page), .double(grace / .seconds(1))
      ).map { (number: try $0.get("id", as: Int64.self), isRetired: try $0.get("is_retired", as: Bool.self)) }
      return (sets, end)
    }
  }

  private func orphanBlobs(after last: [UInt8]) async throws -> (hashes: [SHA256Digest], last: [UInt8])? {
    try await pool.run { session in
      let end = try session.execute(Integrity.statements["last_blob"], .bytes(last), .integer(Self.page)).first?
        .get("hash", as: [UInt8].self)
      guard let end else { return nil }
      let rows = try session.execute(Integrity.statements["orphan_blobs"], .bytes(last), .integer(Self.page))
      return (try rows.compactMap { SHA256Digest(bytes: try $0.get("hash")) }, end)
    }
  }
}

extension CollectReport.Amount {
  init(_ collected: Collected) { self.init(count: collected.blobs, bytes: collected.bytes) }

  init(_ files: [StoredFile]) { self.init(count: files.count, bytes: files.reduce(0) { $0 &+ $1.bytes }) }
}

extension Collector {
  /// Reports what `run` would remove now, and changes nothing.
  package func dryRun() async throws -> CollectReport {
    var report = CollectReport(isDryRun: true)
    report.heldUntil = try await pool.run { session in try Collecting.currentHold(session) }
    var last: Int64 = 0
    while let page = try await removableSets(after: last) {
      last = page.last
      report.retiredSets += page.sets.count(where: \.isRetired)
      report.orphanSets += page.sets.count { !$0.isRetired }
    }
    report.answers = try await pool.run { session in try Idempotency.countExpired(session) }
    progress(0.1)
    guard report.heldUntil == nil else { return report }
    try await countBlobs(&report)
    try await forEachOrphanCandidate { hash, bytes in
      if try await store.collecting.isOrphan(hash, pool) { report.orphanFiles += Amount(count: 1, bytes: bytes) }
    }
    let blobs = blobs
    report.stagedFiles = Amount(try await onThread("collect") { try blobs.stagedOrphans() })
    try await countWaiting(&report)
    return report
  }

  /// Counts what was released, and waits for the end of its pause.
  private func countWaiting(_ report: inout CollectReport) async throws {
    let pause = store.collecting.pause
    guard pause > .zero else { return }
    report.waiting = try await pool.run { session in
      let row = try session.execute(Integrity.statements["waiting_blobs"], .double(pause / .seconds(1))).single()
      return Amount(count: try row.get("blobs"), bytes: try row.get("bytes"))
    }
  }

  private typealias Amount = CollectReport.Amount

  private func countBlobs(_ report: inout CollectReport) async throws {
    var last: [UInt8] = []
    while true {
      let pause = store.collecting.pause
      let page = try await pool.run { [last, grace] session -> (end: [UInt8], amount: Amount)? in
        let end = try session.execute(Integrity.statements["last_blob"], .bytes(last), .integer(Self.page)).first?
          .get("hash", as: [UInt8].self)
        guard let end else { return nil }
        let row = try session.execute(
          Integrity.statements["count_removable_blobs"], .bytes(last), .integer(Self.page),
          .double(grace / .seconds(1)),
          .double(pause / .seconds(1))
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
