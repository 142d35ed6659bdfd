import Crypto
import Model
import Platform
import Postgres
import Queue

/// What a storm over reprocessing left in the database and in the blob store.
struct ReprocessEvidence {
  let run: ChaosRun
  /// The blob store's folder.
  let blobs: String
  let media: [StormMedium]
  let rounds: [ReprocessRound]

  /// Attempts that workers made at items, and how many of them were lost with their worker.
  func attempts() async throws -> (all: Int, lost: Int) {
    try await run.pool.run { session in
      let row = try session.execute(ChaosSchema.statements["reprocess_attempts"]).single()
      return (try row.get("attempts"), try row.get("lost"))
    }
  }

  /// What does not hold while the replaced sets can still be read: each item was done once, and all sets are somebody's.
  func violationsWithReplaced() async throws -> [String] {
    let (media, rounds) = (media, rounds)
    let statements = ChaosSchema.statements
    let evidence = try await run.evidence()
    return try await run.pool.run { session in
      try session.snapshot { session in
        var violations = Check.attemptsDoNotOverlap.violations(evidence)
        violations += try Self.violations(ofRuns: session.execute(statements["reprocess_runs"]), media, rounds)
        let makings = rounds.count { $0.outcome == .done }
        violations += try Self.violations(ofMedia: session.execute(statements["histories"]), media, makings: makings)
        let sets = try session.execute(statements["sets"]).single()
        let expected = media.count * (2 + makings)
        let found: Int = try sets.get("sets")
        if found != expected { violations.append("there are \(found) sets instead of \(expected)") }
        if try sets.get("loose", as: Int.self) > 0 { violations.append("there are sets that nobody leads to") }
        for row in try session.execute(statements["unequal"]) {
          violations.append("\(try row.get("role", as: String.self)) of the same sources was made in several ways")
        }
        if try session.execute(statements["live"]).single().get(0, as: Int.self) > 0 {
          violations.append("jobs are left over")
        }
        return violations
      }
    }
  }

  /// What does not hold once what was replaced is collected: there is what is read, what it was made of, and nothing else.
  func violationsOfRest() async throws -> [String] {
    let (media, blobs) = (media, blobs)
    let statements = ChaosSchema.statements
    return try await run.pool.run { session in
      var violations = try Self.violations(ofMedia: session.execute(statements["histories"]), media, makings: 0)
      let sets: Int = try session.execute(statements["sets"]).single().get("sets")
      if sets != 2 * media.count { violations.append("\(sets) sets are left instead of \(2 * media.count)") }
      if try session.execute(statements["loose_blobs"]).single().get(0, as: Int.self) > 0 {
        violations.append("blobs are left that nothing refers to")
      }
      for row in try session.execute(statements["files"]) {
        let hash = try row.get("hash", as: String.self)
        let found = try? SHA256.digest(of: Descriptor(reading: "\(blobs)/\(hash.prefix(2))/\(hash)"))
        if found?.hex != hash { violations.append("blob \(hash) has no file of that content") }
      }
      return violations
    }
  }

  // Runs stand in the order of the rounds, those of one round in any.
  private static func violations(
    ofRuns runs: Rows, _ media: [StormMedium], _ rounds: [ReprocessRound]
  ) throws -> [String] {
    let kinds = StormMedium.Kind.allCases.count
    guard runs.count == kinds * rounds.count else {
      return ["there are \(runs.count) runs instead of \(kinds * rounds.count)"]
    }
    var violations: [String] = []
    for (place, round) in rounds.enumerated() {
      var items = 0
      for row in runs.dropFirst(place * kinds).prefix(kinds) {
        let name = "run \(try row.publicID("public_id")), \(round.title)"
        let state: String = try row.get("state")
        let count: Int = try row.get("items")
        let wanted: Int = try row.get(round.outcome == .done ? "done" : "skipped")
        items += count
        if state != "completed" { violations.append("\(name) is \(state)") }
        if wanted != count { violations.append("\(name): \(wanted) of \(count) items ended as they should") }
        let wrong = try ["wrong_sets", "wrong_ends"].map { try row.get($0, as: Int.self) }
        if wrong != [0, 0] { violations.append("\(name): not one set, or not one end of a job, of \(wrong) items") }
      }
      if items != media.count { violations.append("round \(place + 1) had \(items) items instead of \(media.count)") }
    }
    return violations
  }

  private static func violations(ofMedia rows: Rows, _ media: [StormMedium], makings: Int) throws -> [String] {
    var violations: [String] = []
    let known = Set(media.map(\.id))
    if rows.count != known.count { violations.append("there are \(rows.count) media instead of \(known.count)") }
    for row in rows {
      let id = try row.publicID("public_id")
      let status: String = try row.get("status")
      let (version, replaced): (Int, Int) = (try row.get("version"), try row.get("replaced"))
      if !known.contains(id) { violations.append("nobody was told of \(id)") }
      if status != "ready" { violations.append("\(id) is \(status)") }
      if version != 2 { violations.append("\(id) was made by version \(version)") }
      if try !row.get("is_current", as: Bool.self) { violations.append("\(id) has a set that counts as replaced") }
      if replaced != makings { violations.append("\(id) has \(replaced) replaced sets instead of \(makings)") }
    }
    return violations
  }
}
