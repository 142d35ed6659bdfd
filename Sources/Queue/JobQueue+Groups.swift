import Model
package import Postgres

/// Short jobs, which are claimed together and end together: two statements for any number of them.
extension JobQueue {
  /// Takes up to `limit` jobs of a queue under one token, the first in rank first; nil if there is none.
  ///
  /// - Parameters:
  ///   - floor: jobs below this rank are not looked at: see `ClaimFloor`.
  ///   - lease: the secret of this claim, which becomes the token.
  package static func claimGroup(
    worker: Int64, queue: String, limit: Int, floor: Int64 = .min, lease: Lease = Lease(), _ session: Session
  ) throws(PostgresError) -> GroupClaim? {
    group(
      try jobs(
        session.execute(
          statements["claim_group"], .integer(worker), .text(queue), .integer(limit), .integer(floor),
          .integer(lease.number))))
  }

  /// What a claim gave whose answer was never heard; nil if it gave nothing, or nothing of it is held any more.
  package static func claimedGroup(
    worker: Int64, lease: Lease, _ session: Session
  ) throws(PostgresError) -> GroupClaim? {
    group(try jobs(session.execute(statements["claimed_group"], .integer(worker), .integer(lease.number))))
  }

  private static func group(_ jobs: [ClaimedJob]) -> GroupClaim? {
    jobs.first.map { GroupClaim(token: $0.token, jobs: jobs) }
  }

  /// Ends all jobs of a group; throws `LeaseLost`, so that the caller's transaction rolls back, if the lease is another's.
  ///
  /// To be called in a transaction if the group has endings of its own, or effects that belong to it.
  ///
  /// - Parameter endings: by the id of the job; the others are completed.
  package static func settle(
    _ group: GroupClaim, _ endings: [Int64: MemberEnding], _ session: Session
  ) throws {
    var exceptions = MemberEndings()
    var members = 0
    for job in group.jobs {
      let ending = endings[job.id] ?? .completed()
      if job.isRow {
        try end(job, ending, session)
      } else {
        members += 1
        exceptions.add(job.id, ending)
      }
    }
    guard members > 0 else { return }
    let rows = try session.execute(
      statements["settle"], .integer(group.token), .integers(exceptions.ids), .texts(exceptions.endings),
      .doubles(exceptions.seconds), .texts(exceptions.counts), .texts(exceptions.errors), .texts(exceptions.results))
    guard !rows.isEmpty else { throw LeaseLost(job: group.jobs[0].id) }
  }

  private static func end(_ job: ClaimedJob, _ ending: MemberEnding, _ session: Session) throws {
    do {
      switch ending {
      case .completed(let completion, let result): try complete(job, completion, result: result, session)
      case .retry(let seconds, let error): try retry(job, afterSeconds: seconds, error: error, session)
      case .snoozed(let seconds): try snooze(job, seconds: seconds, session)
      case .dead(let error): try bury(job, error: error, session)
      case .released: try release(job, session)
      }
    } catch is LeaseLost {
      // One that is to be cancelled gets no further attempt: under the same token that is its end.
      try complete(job, .cancelled, result: nil, session)
    }
  }
}

/// The members that did not simply complete, column by column, as `settle` takes them.
private struct MemberEndings {
  private(set) var ids: [Int64?] = []
  private(set) var endings: [String?] = []
  private(set) var seconds: [Double?] = []
  private(set) var counts: [String?] = []
  private(set) var errors: [String?] = []
  private(set) var results: [String?] = []

  mutating func add(_ id: Int64, _ ending: MemberEnding) {
    switch ending {
    case .completed(.accepted, nil): return
    case .completed(let completion, let result):
      add(id, completion.rawValue, result: result.map { String(decoding: $0, as: UTF8.self) })
    case .retry(let seconds, let error): add(id, "s", seconds: seconds, error: error)
    case .snoozed(let seconds): add(id, "s", seconds: seconds, counts: false)
    case .dead(let error): add(id, "d", error: error)
    case .released: add(id, "b", counts: false)
    }
  }

  private mutating func add(
    _ id: Int64, _ ending: String, seconds: Double? = nil, counts: Bool = true, error: String? = nil,
    result: String? = nil
  ) {
    ids.append(id)
    endings.append(ending)
    self.seconds.append(seconds)
    self.counts.append(counts ? "t" : "f")
    errors.append(error)
    results.append(result)
  }
}
