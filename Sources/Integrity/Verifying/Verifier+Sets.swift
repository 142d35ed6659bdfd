import Crypto
import Model
import Postgres
import Queue
import Store

extension Verifier {
  private static let setPage = 200

  /// Every set is somebody's, and whole.
  func checkSets(_ totals: Totals, _ report: inout VerifyReport) async throws {
    var last: Int64 = 0
    var known: [SHA256Digest: ExpectedAssets?] = [:]
    while true {
      // Sets, their assets and their definitions as of one moment.
      let page = try await pool.run { [last, known] session in
        try session.snapshot { session in try SetPage(after: last, limit: Self.setPage, known: known, session) }
      }
      guard let end = page.last else { return }
      last = end
      known = page.definitions
      report.checked.sets += page.sets.count
      report.findings += page.findings + page.sets.flatMap(\.findings)
      tell(.sets, Int64(report.checked.sets), of: Int64(totals.sets))
    }
  }

  /// Every post and every image that is ready has media, and every one that says so has sources.
  func checkSubjects(_ stage: VerifyStage, _ total: Int, _ report: inout VerifyReport) async throws {
    let isPost = stage == .posts
    var last: Int64 = 0
    var count = 0
    while true {
      let (rows, end, findings) = try await pool.run { [last] session in
        let rows = try session.execute(
          Integrity.statements[stage.rawValue], .integer(last), .integer(Self.setPage * 5))
        let findings = try rows.flatMap { row in try Self.findings(row, isPost: isPost) }
        return (rows.count, try rows.last?.get("id", as: Int64.self), findings)
      }
      guard let end else { break }
      last = end
      count += rows
      report.findings += findings
      tell(stage, Int64(count), of: Int64(total))
    }
    if isPost { report.checked.posts = count } else { report.checked.images = count }
  }

  private static func findings(_ row: Row, isPost: Bool) throws -> [Finding] {
    let id = try row.publicID("public_id")
    let subject = isPost ? Subject.post(id) : .image(id)
    var findings: [Finding] = []
    let lacksSources: Bool = try row.get("lacks_sources")
    if lacksSources {
      findings.append(
        Finding(.sourcesMissing, .init(subject), .lost, detail: "there is no set of its sources", subjects: [subject]))
    }
    if try row.get("lacks_media", as: Bool.self) {
      let hasSources: Bool = try row.get("has_sources")
      findings.append(
        Finding(
          .mediaMissing, .init(subject), hasSources && !lacksSources ? .damaged : .lost,
          detail: "there is no set of its media", subjects: [subject]))
    }
    return findings
  }
}
