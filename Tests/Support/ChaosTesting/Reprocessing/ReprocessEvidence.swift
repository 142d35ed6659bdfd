import Model
import Platform
import Postgres
import Queue

/// Checks of the database and the blob store after a storm over reprocessing.
struct ReprocessEvidence {
  let run: ChaosRun
  /// The folder of the blob store.
  let blobs: String
  let media: [StormMedium]
  let rounds: [ReprocessRound]
  /// The versions of the changed definitions.
  let versions: [StormMedium.Kind: Int]

  /// The number of attempts by workers, and of those that were lost with their worker.
  func attempts() async throws -> (all: Int, lost: Int) {
    try await run.pool.run { session in
      let row = try session.execute(ChaosSchema.statements["reprocess_attempts"]).single()
      return (try row.get("attempts"), try row.get("lost"))
    }
  }

  /// Returns violations while the replaced sets exist: each item is done once, and no set is an orphan.
  func violationsBeforeCollection() async throws -> [String] {
    let (media, rounds, versions) = (media, rounds, versions)
    let statements = ChaosSchema.statements
    let evidence = try await run.evidence()
    return try await run.pool.run { session in
      try session.snapshot { session in
        var violations = Check.attemptsDoNotOverlap.violations(evidence)
        violations += try Self.violations(ofRuns: session.execute(statements["reprocess_runs"]), media, rounds)
        let replacements = rounds.count(where: \.isDone)
        violations += try Self.violations(
          ofMedia: session.execute(statements["histories"]), media, versions, replacements: replacements)
        let sets = try session.execute(statements["sets"]).single()
        let expected = media.count * (2 + replacements)
        let found: Int = try sets.get("sets")
        if found != expected { violations.append("there are \(found) asset sets instead of \(expected)") }
        let orphans: Int = try sets.get("orphans")
        if orphans > 0 { violations.append("\(orphans) asset sets are orphans") }
        for row in try session.execute(statements["differing_assets"]) {
          violations.append("\(try row.get("role", as: String.self)) of the same sources has different assets")
        }
        return violations + (try PostChecks.unfinishedJobs(session))
      }
    }
  }

  /// Returns violations after the replaced sets were collected: only current sets and their sources exist.
  func violationsAfterCollection() async throws -> [String] {
    let (media, blobs, versions) = (media, blobs, versions)
    let statements = ChaosSchema.statements
    return try await run.pool.run { session in
      var violations = try Self.violations(
        ofMedia: session.execute(statements["histories"]), media, versions, replacements: 0)
      let sets: Int = try session.execute(statements["sets"]).single().get("sets")
      if sets != 2 * media.count { violations.append("there are \(sets) asset sets instead of \(2 * media.count)") }
      let orphans = try session.execute(statements["orphan_blobs"]).single().get(0, as: Int.self)
      if orphans > 0 { violations.append("\(orphans) blobs are orphans") }
      return violations + (try PostChecks.blobsWithoutFile(in: blobs, session))
    }
  }

  // The runs have the order of the rounds; those of one round have any order.
  private static func violations(
    ofRuns runs: Rows, _ media: [StormMedium], _ rounds: [ReprocessRound]
  ) throws -> [String] {
    let kinds = StormMedium.Kind.allCases.count
    guard runs.count == kinds * rounds.count else {
      return ["there are \(runs.count) runs instead of \(kinds * rounds.count)"]
    }
    var violations: [String] = []
    for (index, round) in rounds.enumerated() {
      var items = 0
      for row in runs.dropFirst(index * kinds).prefix(kinds) {
        let name = "run \(try row.publicID("public_id")), \(round.title)"
        let state: String = try row.get("state")
        let count: Int = try row.get("items")
        let expected: Int = try row.get(round.isDone ? "done" : "skipped")
        items += count
        if state != "completed" { violations.append("\(name) is \(state)") }
        if expected != count { violations.append("\(name): \(expected) of \(count) items have the expected outcome") }
        let wrong = try ["wrong_sets", "wrong_ends"].map { try row.get($0, as: Int.self) }
        if wrong != [0, 0] {
          violations.append("\(name): the numbers of asset sets and of ends of jobs are wrong for \(wrong) items")
        }
      }
      if items != media.count { violations.append("round \(index + 1) had \(items) items instead of \(media.count)") }
    }
    return violations
  }

  private static func violations(
    ofMedia rows: Rows, _ media: [StormMedium], _ versions: [StormMedium.Kind: Int], replacements: Int
  ) throws -> [String] {
    var violations: [String] = []
    let known = Dictionary(media.map { ($0.id, versions[$0.sources.kind]) }) { $1 }
    if rows.count != known.count { violations.append("there are \(rows.count) media instead of \(known.count)") }
    for row in rows {
      let id = try row.publicID("public_id")
      let status: String = try row.get("status")
      let (version, replaced): (Int, Int) = (try row.get("version"), try row.get("replaced"))
      if known[id] == nil { violations.append("\(id) was not acknowledged") }
      if status != "ready" { violations.append("\(id) is \(status)") }
      if let expected = known[id], version != expected {
        violations.append("\(id) has version \(version) of its definition")
      }
      if try !row.get("is_current", as: Bool.self) { violations.append("\(id) has a retired set") }
      if replaced != replacements {
        violations.append("\(id) has \(replaced) replaced sets instead of \(replacements)")
      }
    }
    return violations
  }
}
