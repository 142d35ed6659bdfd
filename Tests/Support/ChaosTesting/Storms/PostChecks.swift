import Crypto
import Model
import Platform
import Postgres
import Queue

/// Checks of the database and the blob store after a storm over services.
enum PostChecks {
  /// The figures of a storm.
  static func figures(_ posts: Int, _ faults: FaultCounts) -> [(name: String, value: String)] {
    [("posts", "\(posts), each submitted until it was acknowledged, and then once more"), ("faults", "\(faults)")]
  }

  /// Returns the violations: each post must exist once and be ready, by one job, and every blob must have its file.
  ///
  /// - Parameter blobs: the folder of the blob store; nil: they lie in a bucket.
  static func violations(of ids: [Int: PublicID], run: ChaosRun, blobs: String?) async throws -> [String] {
    let statements = ChaosSchema.statements
    let evidence = try await run.evidence()
    return try await run.pool.run { session in
      var violations = Check.attemptsDoNotOverlap.violations(evidence)
      let posts = try session.execute(statements["posts"])
      if posts.count != ids.count { violations.append("there are \(posts.count) posts instead of \(ids.count)") }
      if Set(ids.values).count != ids.count { violations.append("two submissions have the same post") }
      let known = Set(ids.values)
      for post in posts {
        let id = try post.publicID("public_id")
        let status = try post.get("status", as: String.self)
        let counts = try ["sets", "ends"].map { try post.get($0, as: Int.self) }
        if !known.contains(id) { violations.append("post \(id) was not acknowledged") }
        if status != "ready" { violations.append("post \(id) is \(status)") }
        if counts != [1, 1] {
          violations.append("post \(id): the numbers of asset sets and ends of its job are \(counts)")
        }
        if try post.get("assets", as: Int.self) == 0 { violations.append("post \(id) has no assets") }
      }
      violations += try unfinishedJobs(session)
      if let blobs { violations += try blobsWithoutFile(in: blobs, session) }
      return violations
    }
  }

  static func unfinishedJobs(_ session: Session) throws -> [String] {
    let count = try session.execute(ChaosSchema.statements["live"]).single().get(0, as: Int.self)
    return count > 0 ? ["\(count) jobs are unfinished"] : []
  }

  /// - Parameter folder: the folder of the blob store.
  static func blobsWithoutFile(in folder: String, _ session: Session) throws -> [String] {
    try session.execute(ChaosSchema.statements["files"]).compactMap { row in
      let hash = try row.get("hash", as: String.self)
      let found = try? SHA256.digest(of: Descriptor(reading: "\(folder)/\(hash.prefix(2))/\(hash)"))
      return found?.hex == hash ? nil : "blob \(hash) has no file with its content"
    }
  }
}
