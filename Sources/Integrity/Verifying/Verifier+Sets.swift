import Crypto
import Model
import Postgres
import Queue
import Store

extension Verifier {
  private static let setPage = 200

  /// Checks that each set is complete and has a post or an image that refers to it.
  func checkSets(_ totals: Totals, _ report: inout VerifyReport) async throws {
    var last: Int64 = 0
    var known: [SHA256Digest: ExpectedAssets?] = [:]
    while true {
      // The sets, their assets and their definitions from one snapshot.
      let page = try await pool.run { [last, known] session in
        try session.snapshot { session in try SetPage(after: last, limit: Self.setPage, known: known, session) }
      }
      guard let end = page.last else { return }
      last = end
      known = page.definitions
      report.checked.sets += page.sets.count
      report.findings += page.findings + page.sets.flatMap(\.findings)
      reportProgress(.sets, Int64(report.checked.sets), of: Int64(totals.sets))
    }
  }

  /// Checks that each post or image that is ready has outputs, and that each with kept sources has them.
  func checkSubjects(_ stage: VerifyStage, _ total: Int, _ report: inout VerifyReport) async throws {
    let isPost = stage == .posts
    var last: Int64 = 0
    var count = 0
    while true {
      let (rows, end, findings) = try await pool.run { [last] session in
        let rows = try session.execute(
          isPost ? Integrity.statements["posts"] : Integrity.statements["images"], .integer(last),
          .integer(Self.setPage * 5))
        let findings = try rows.flatMap { row in try Self.findings(row, isPost: isPost) }
        return (rows.count, try rows.last?.get("id", as: Int64.self), findings)
      }
      guard let end else { break }
      last = end
      count += rows
      report.findings += findings
      reportProgress(stage, Int64(count), of: Int64(total))
    }
    if isPost { report.checked.posts = count } else { report.checked.images = count }
  }

  /// Checks that each item of a run that has started has its job.
  func checkRuns(_ report: inout VerifyReport) async throws {
    report.findings += try await pool.run { session in
      try session.execute(Integrity.statements["runs_without_jobs"]).map { row in
        let items: Int = try row.get("items")
        return Finding(
          .jobMissing, .run(try row.publicID("public_id")), .fault,
          detail: "\(items) of its items wait for jobs that do not exist")
      }
    }
  }

  private static func findings(_ row: Row, isPost: Bool) throws -> [Finding] {
    let id = try row.publicID("public_id")
    let subject = isPost ? Subject.post(id) : .image(id)
    var findings: [Finding] = []
    let lacksSources: Bool = try row.get("lacks_sources")
    if lacksSources {
      findings.append(
        Finding(
          .sourcesMissing, .init(subject), .lost, detail: "the set of its sources is missing", subjects: [subject]))
    }
    if try row.get("lacks_media", as: Bool.self) {
      let hasSources: Bool = try row.get("has_sources")
      findings.append(
        Finding(
          .mediaMissing, .init(subject), hasSources && !lacksSources ? .damaged : .lost,
          detail: "the set of its outputs is missing", subjects: [subject]))
    }
    // Without sources no job can be performed.
    if try row.get("lacks_job", as: Bool.self), !lacksSources {
      findings.append(
        Finding(
          .jobMissing, .init(subject), .fault, detail: "it waits for a job that does not exist", subjects: [subject]))
    }
    return findings
  }
}

/// A page of asset sets with the data that their check needs, read from one snapshot.
struct SetPage: Sendable {
  private(set) var sets: [SetEvidence] = []
  /// The number of the last set; nil: there are no more sets.
  private(set) var last: Int64?
  /// The expected assets of the definitions read so far; nil for those that do not decode.
  private(set) var definitions: [SHA256Digest: ExpectedAssets?]
  /// A finding for each definition first read in this page that does not decode.
  private(set) var findings: [Finding] = []

  private struct Draft {
    let number: Int64
    let id: PublicID
    let definition: SHA256Digest?
    let isRetired: Bool
    let isKept: Bool
    var referrers: [SetReferrer] = []
  }

  /// Reads the sets after a number.
  init(after: Int64, limit: Int, known: [SHA256Digest: ExpectedAssets?], _ session: Session) throws {
    definitions = known
    var drafts: [Draft] = []
    for row in try session.execute(Integrity.statements["sets"], .integer(after), .integer(limit)) {
      let number: Int64 = try row.get("id")
      if drafts.last?.number != number {
        drafts.append(
          Draft(
            number: number, id: try row.publicID("public_id"),
            definition: try row.get("definition", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) },
            isRetired: try row.get("is_retired"), isKept: try row.get("is_kept")))
      }
      if let kind = try row.get("kind", as: String?.self) {
        drafts[drafts.count - 1].referrers.append(
          SetReferrer(
            subject: try Subject(kind: kind, id: try row.publicID("subject")), isSource: try row.get("is_source"),
            isLook: try row.get("is_look"), isMoment: try row.get("is_moment"), hasSources: try row.get("has_sources"),
            photos: try row.get("photos")))
      }
    }
    last = drafts.last?.number
    try readDefinitions(of: drafts, session)
    let members = try Self.members(drafts.map(\.number), session)
    sets = drafts.map { draft in
      SetEvidence(
        id: draft.id, isRetired: draft.isRetired, isKept: draft.isKept, referrers: draft.referrers,
        members: members[draft.number] ?? [], expected: draft.definition.flatMap { definitions[$0] ?? nil })
    }
  }

  private mutating func readDefinitions(of drafts: [Draft], _ session: Session) throws {
    let unknown = Set(drafts.compactMap(\.definition)).filter { definitions[$0] == nil }
    guard !unknown.isEmpty else { return }
    for row in try session.execute(Integrity.statements["definitions"], .byteStrings(unknown.map(\.bytes))) {
      guard let hash = SHA256Digest(bytes: try row.get("hash")) else { continue }
      let body = Array(try row.get("body", as: String.self).utf8)
      do {
        definitions.updateValue(ExpectedAssets(try JSON.decode(MediaDefinition.self, from: body)), forKey: hash)
      } catch {
        definitions.updateValue(nil, forKey: hash)
        let subjects = drafts.filter { $0.definition == hash }.flatMap { $0.referrers.map(\.subject) }
        findings.append(
          Finding(
            .definitionUnreadable, .definition(hash), .lost, detail: JSON.reason(error),
            subjects: subjects))
      }
    }
  }

  private static func members(_ sets: [Int64], _ session: Session) throws -> [Int64: [SetMember]] {
    var members: [Int64: [SetMember]] = [:]
    for row in try session.execute(Integrity.statements["members"], .integers(sets)) {
      let text = try row.get("role", as: String.self)
      guard let role = Role(rawValue: text) else { throw PostgresError(.decoding, "unknown role '\(text)'") }
      guard let blob = SHA256Digest(bytes: try row.get("blob")) else {
        throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
      }
      members[try row.get("asset_set_id"), default: []].append(
        SetMember(
          id: try row.publicID("public_id"), role: role, place: try row.get("place"), blob: blob,
          bytes: try row.get("bytes"), blobBytes: try row.get("blob_bytes")))
    }
    return members
  }
}
