import Crypto
import Model
import Platform
import Postgres
import Queue

/// What a storm over the real programs left in the database and in the blob store.
struct ServiceEvidence {
  let run: ChaosRun
  /// The blob store's folder.
  let blobs: String

  /// What does not hold: each post is there once, ready, by one run, and every blob has its file.
  func violations(of ids: [Int: PublicID]) async throws -> [String] {
    let statements = ChaosSchema.statements
    let blobs = blobs
    let evidence = try await run.evidence()
    return try await run.pool.run { session in
      var violations = Check.attemptsDoNotOverlap.violations(evidence)
      let posts = try session.execute(statements["posts"])
      if posts.count != ids.count { violations.append("there are \(posts.count) posts instead of \(ids.count)") }
      if Set(ids.values).count != ids.count { violations.append("two submissions were answered with one post") }
      let known = Set(ids.values)
      for post in posts {
        let id = try post.publicID("public_id")
        let status = try post.get("status", as: String.self)
        let counts = try ["sets", "ends"].map { try post.get($0, as: Int.self) }
        if !known.contains(id) { violations.append("nobody was told of post \(id)") }
        if status != "ready" { violations.append("post \(id) is \(status)") }
        if counts != [1, 1] { violations.append("post \(id): sets and ends of its job are \(counts)") }
        if try post.get("assets", as: Int.self) == 0 { violations.append("post \(id) has nothing to show") }
      }
      if try session.execute(statements["live"]).single().get(0, as: Int.self) > 0 {
        violations.append("jobs are left over")
      }
      for row in try session.execute(statements["files"]) {
        let hash = try row.get("hash", as: String.self)
        let found = try? SHA256.digest(of: Descriptor(reading: "\(blobs)/\(hash.prefix(2))/\(hash)"))
        if found?.hex != hash { violations.append("blob \(hash) has no file of that content") }
      }
      return violations
    }
  }
}
