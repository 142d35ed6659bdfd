import Crypto
import Model
import Postgres
import Queue
import Store

/// Some sets of assets with all that is known of them, read within one snapshot.
struct SetPage: Sendable {
  private(set) var sets: [SetEvidence] = []
  /// The number of the last one; nil: there are no more.
  private(set) var last: Int64?
  /// What the definitions make that were met so far; nil for those that cannot be read.
  private(set) var definitions: [SHA256Digest: ExpectedAssets?]
  /// Which of the definitions that are met here first cannot be read.
  private(set) var findings: [Finding] = []

  private struct Draft {
    let number: Int64
    let id: PublicID
    let definition: SHA256Digest?
    let isRetired: Bool
    let isKept: Bool
    var referrers: [SetReferrer] = []
  }

  /// Reads those after a number.
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
            isMoment: try row.get("is_moment"), hasSources: try row.get("has_sources"), photos: try row.get("photos")))
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
      guard let role = Role(rawValue: text) else { throw PostgresError(.decoding, "there is no role \(text)") }
      guard let blob = SHA256Digest(bytes: try row.get("blob")) else {
        throw PostgresError(.decoding, "a blob's name is not a SHA-256")
      }
      members[try row.get("asset_set_id"), default: []].append(
        SetMember(
          id: try row.publicID("public_id"), role: role, place: try row.get("place"), blob: blob,
          bytes: try row.get("bytes"), blobBytes: try row.get("blob_bytes")))
    }
    return members
  }
}
