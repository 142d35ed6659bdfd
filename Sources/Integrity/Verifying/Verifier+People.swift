import Model
import Postgres
import Queue

extension Verifier {
  private static let peoplePage = 1000

  /// Checks the counters of users, posts and places, and that relations have both of their sides and their posts.
  func checkPeople(_ totals: Totals, _ report: inout VerifyReport) async throws {
    let all = Int64(totals.users + totals.posts + totals.relations)
    var done: Int64 = 0
    // Relations come first: with a repair of them the counters are right.
    var number: Int64 = 0
    let kinds = RelationKind.all.filter { $0.target == .post }.map(\.name)
    while let page = try await page(
      Integrity.statements["relations"], .integer(number), also: [.texts(kinds)],
      read: { row -> (Int64, Finding?) in (try row.get("id"), try Self.finding(row)) })
    {
      number = page.last
      report.checked.relations += page.count
      report.findings += page.findings
      done += Int64(page.count)
      reportProgress(.people, done, of: all)
    }
    var user = ""
    while let page = try await page(
      Integrity.statements["users"], .text(user),
      read: { row -> (String, Finding?) in
        let id: String = try row.get("id")
        return (id, try Self.count(row, .user(id)))
      })
    {
      user = page.last
      report.checked.users += page.count
      report.findings += page.findings
      done += Int64(page.count)
      reportProgress(.people, done, of: all)
    }
    number = 0
    while let page = try await page(
      Integrity.statements["counters_of_posts"], .integer(number),
      read: { row -> (Int64, Finding?) in (try row.get("id"), try Self.count(row, .post(try row.publicID("public_id"))))
      })
    {
      number = page.last
      report.findings += page.findings
      done += Int64(page.count)
      reportProgress(.people, done, of: all)
    }
    try await checkSpellings(&report)
    try await checkPlaces(&report)
  }

  /// Checks the counters of places and collections, and the sums of the map.
  private func checkPlaces(_ report: inout VerifyReport) async throws {
    var place = ""
    while let page = try await page(
      Integrity.statements["places"], .text(place),
      read: { row -> (String, Finding?) in
        let id: String = try row.get("id")
        return (id, try Self.count(row, .place(id)))
      })
    {
      place = page.last
      report.findings += page.findings
    }
    var number: Int64 = 0
    while let page = try await page(
      Integrity.statements["collections"], .integer(number),
      read: { row -> (Int64, Finding?) in
        (try row.get("id"), try Self.count(row, .collection(try row.publicID("public_id"))))
      })
    {
      number = page.last
      report.findings += page.findings
    }
    report.findings += try await pool.run { session in
      let unknown = try session.execute(Integrity.statements["unknown_places"], .integer(Self.peoplePage)).map { row in
        Finding(.countWrong, .place(try row.get("id")), .fault, detail: "posts name a place that has no row")
      }
      let months = try session.execute(Integrity.statements["activity"]).map { row in
        Finding(
          .countWrong, .month(try row.get("month")), .fault, detail: "the sums of the map differ from the posts")
      }
      return unknown + months
    }
  }

  /// Compares the spellings with the words of names. A repair that has found as many as a page is to be run again.
  private func checkSpellings(_ report: inout VerifyReport) async throws {
    report.findings += try await pool.run { session in
      try session.execute(Integrity.statements["spellings"], .integer(Self.peoplePage)).map { row in
        Finding(
          .spellingWrong, .spelling(try row.get("word")), .fault, detail: "the spellings differ from the names of users"
        )
      }
    }
  }

  /// Reads a page of a statement after a position; nil: there are no more rows.
  private func page<Position: Sendable>(
    _ statement: Statement, _ after: Parameter, also more: [Parameter] = [],
    read: @escaping @Sendable (Row) throws -> (Position, Finding?)
  ) async throws -> (last: Position, count: Int, findings: [Finding])? {
    try await pool.run { session in
      let rows = try session.execute(statement, [after, .integer(Self.peoplePage)] + more).map(
        read)
      guard let last = rows.last else { return nil }
      return (last.0, rows.count, rows.compactMap(\.1))
    }
  }

  private static func count(_ row: Row, _ object: FindingObject) throws -> Finding? {
    guard try row.get("is_wrong", as: Bool.self) else { return nil }
    return Finding(.countWrong, object, .fault, detail: "a counter differs from the rows that it counts")
  }

  private static func finding(_ row: Row) throws -> Finding? {
    guard let code = try row.get("code", as: String?.self).flatMap({ FindingCode(rawValue: $0) }) else { return nil }
    let (user, target): (String, String) = (try row.get("user_id"), try row.get("target"))
    let kind: String = try row.get("kind")
    let what = code == .relationDangling ? "a post that does not exist" : "a user without the other side"
    return Finding(
      code, .relation(try row.get("id")), .fault, detail: "'\(kind)' of '\(user)' refers to '\(target)', \(what)")
  }
}
