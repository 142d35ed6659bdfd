package import Model

extension Check {
  /// An attempt is authorised from its claim until the job is no longer its own: no two of a job are so at once.
  package static let attemptsDoNotOverlap = Check(name: "attempts do not overlap") { evidence in
    let attempts = Attempt.all(evidence.passages, fates: evidence.fatesByJob)
    var violations: [String] = []
    for (job, attempts) in attempts {
      for (earlier, later) in zip(attempts, attempts.dropFirst()) {
        guard let end = earlier.endedAt, end <= later.claimedAt else {
          violations.append("job \(job): attempts \(earlier.token) and \(later.token) were both authorised")
          continue
        }
      }
      let tokens = attempts.map(\.token)
      if Set(tokens).count < tokens.count { violations.append("job \(job): a token was given twice") }
    }
    for entry in evidence.ledger {
      guard case .began(let job, let token, _) = entry.event else { continue }
      if attempts[job]?.contains(where: { $0.token == token }) != true {
        violations.append("job \(job): attempt \(token) began, and was never claimed")
      }
    }
    return violations.sorted()
  }

  /// No attempt begins before its time by the database's clock, whatever the clocks of others say.
  package static let nothingBeginsEarly = Check(name: "nothing begins early") { evidence in
    evidence.passages.filter { $0.from == "s" && $0.to != nil && $0.at < $0.runAt - smallest }.map { passage in
      "job \(passage.job) became available \(passage.runAt - passage.at) microseconds before its time"
    }
  }

  /// In microseconds: an operator hastens a job to the present, which is a moment before the witness looks at the clock.
  private static let smallest: Int64 = 1000

  /// What a process was told is committed stays so, whatever happens to the database afterwards.
  package static let whatWasSaidHolds = Check(name: "what was said holds") { evidence in
    let orders = Dictionary(evidence.orders.map { ($0.job, $0) }) { first, _ in first }
    let fates = evidence.fatesByJob
    return evidence.ledger.compactMap { entry in
      switch entry.event {
      case .enqueued(let job) where orders[job].map(\.isAbsorbed) != false: "job \(job) was not enqueued after all"
      case .absorbed(let job) where orders[job].map(\.isAbsorbed) != true: "job \(job) was not absorbed after all"
      case .cancelled(let job) where fates[job]?.place != .cancelled: "job \(job) was not cancelled after all"
      case .finished(let job, let token) where fates[job]?.token != token:
        "job \(job) was not ended by attempt \(token) after all"
      default: nil
      }
    }
  }
}

extension Evidence {
  /// The fates by job.
  package var fatesByJob: [PublicID: JobFate] {
    Dictionary(fates.map { ($0.job, $0) }) { first, _ in first }
  }
}
