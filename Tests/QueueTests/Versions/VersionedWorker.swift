import Model
import Platform
import Postgres
import PostgresTesting

@testable import Queue

/// A worker and producer of one version of the schema.
struct VersionedWorker: Sendable {
  enum Version: Sendable, CaseIterable {
    /// The schema's first version, with the statements in `v0001_statements.sql`.
    case first
    /// The present version.
    case present
  }

  /// The end of an attempt.
  enum Ending: Sendable {
    case completed, retried, dead, released
  }

  /// The jobs of one claim.
  struct Claim: Sendable {
    fileprivate var leases: [(id: Int64, token: Int64)] = []
    fileprivate var jobs: [ClaimedJob] = []

    /// The ids of the jobs, in the order of their claim.
    fileprivate(set) var ids: [PublicID] = []
    /// The numbers of the attempts.
    fileprivate(set) var attempts: [Int] = []
  }

  private static let first = Statements(topic: "first", EmbeddedText(PackageResources.v0001_statements_sql))

  let version: Version
  let id: Int64

  init(_ version: Version, _ session: Session) throws {
    self.version = version
    switch version {
    case .first:
      let row = try session.execute(Self.first["register"], .text("here"), .integer(1), .double(30)).single()
      id = try row.get("id")
    case .present: id = try JobQueue.register(host: "here", process: 1, session)
    }
  }

  func enqueue(_ count: Int, _ session: Session) throws -> [PublicID] {
    let jobs = (0..<count).map { _ in QueueDatabase.job(maxAttempts: 99) }
    switch version {
    case .first:
      for job in jobs {
        try session.execute(
          Self.first["enqueue"], .text(job.publicID.description), .text(job.queue), .text(job.kind), .double(0),
          .integer(job.priority), .integer(job.maxAttempts), .integer(job.deadlineSeconds), .bytes(nil),
          .text(job.author), .bytes(nil), .text(nil), .text(String(decoding: job.arguments, as: UTF8.self)))
      }
    case .present: for job in jobs { try JobQueue.enqueue(job, session) }
    }
    return jobs.map(\.publicID)
  }

  func claim(_ limit: Int, _ session: Session) throws -> Claim {
    var claim = Claim()
    switch version {
    case .first:
      for row in try session.execute(Self.first["claim"], .integer(id), .text("media"), .integer(limit)) {
        claim.leases.append((try row.get("id"), try row.get("token")))
        claim.ids.append(try row.publicID("public_id"))
        claim.attempts.append(try row.get("attempt"))
      }
      return claim
    case .present:
      claim.jobs = try JobQueue.claim(worker: id, queue: "media", limit: limit, session)
    }
    claim.ids = claim.jobs.map(\.publicID)
    claim.attempts = claim.jobs.map(\.attempt)
    return claim
  }

  /// Ends the jobs of a claim in one transaction, each by its index; throws `LeaseLost` if a token is stale.
  func end(_ claim: Claim, _ ending: (Int) -> Ending, _ session: Session) throws {
    try session.transaction { session in
      switch version {
      case .first:
        for (index, lease) in claim.leases.enumerated() { try endFirst(lease, ending(index), session) }
      case .present:
        for (index, job) in claim.jobs.enumerated() {
          switch ending(index) {
          case .completed: try JobQueue.complete(job, .accepted, result: nil, session)
          case .retried: _ = try JobQueue.fail(job, error: "again", by: .atOnce, session)
          case .dead: try bury(job, error: "never", session)
          case .released: try JobQueue.release(job, session)
          }
        }
      }
    }
  }

  /// Makes scheduled jobs that are due available.
  func promote(_ session: Session) throws {
    switch version {
    case .first: try session.execute(Self.first["promote"], .integer(1000))
    case .present: _ = try JobQueue.promote(session)
    }
  }

  /// Takes jobs from lost workers; returns their number.
  func reap(_ session: Session) throws -> Int {
    guard version == .first else { return try session.transaction { try JobQueue.reap($0).count } }
    return try session.transaction { session in
      let reaped = try session.execute(Self.first["reap"], .integer(3)).count
      try session.execute(Self.first["sweep"])
      return reaped
    }
  }

  private func endFirst(_ lease: (id: Int64, token: Int64), _ ending: Ending, _ session: Session) throws {
    let (id, token) = (Parameter.integer(lease.id), Parameter.integer(lease.token))
    let rows =
      switch ending {
      case .completed: try session.execute(Self.first["complete"], id, token, .text("a"), .text(nil))
      case .retried: try session.execute(Self.first["retry"], id, token, .double(0), .text("again"))
      case .dead: try session.execute(Self.first["bury"], id, token, .text("never"))
      case .released: try session.execute(Self.first["release"], id, token)
      }
    guard !rows.isEmpty else { throw LeaseLost(job: lease.id) }
  }
}
