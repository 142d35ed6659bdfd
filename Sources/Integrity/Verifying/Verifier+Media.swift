import Blobs
import Crypto
import Model
import Platform
import Postgres
import Queue
import Store

extension Verifier {
  private static let mediaPage = 100

  /// An asset with what it tells of its media file.
  private struct Told: Sendable {
    let number: Int64
    let id: PublicID
    let blob: SHA256Digest
    let isSource: Bool
    let properties: MediaProperties

    init(_ row: Row) throws {
      guard let hash = SHA256Digest(bytes: try row.get("blob")) else {
        throw PostgresError(.decoding, "a blob's name is not a SHA-256")
      }
      number = try row.get("id")
      id = try row.publicID("public_id")
      blob = hash
      isSource = Role(rawValue: try row.get("role"))?.isSource ?? false
      properties = MediaProperties(
        type: try row.get("type"), width: try row.get("width"), height: try row.get("height"),
        duration: try row.get("duration"))
    }
  }

  /// Every media file can be decoded, and is what its assets tell.
  ///
  /// Neither the bytes of a blob nor what an asset tells ever change: nothing has to be looked at twice.
  func checkMedia(with inspector: MediaInspector, _ totals: Totals, _ report: inout VerifyReport) async throws {
    // Of what is damaged it is known already.
    var known: Set<FindingObject> = []
    for finding in report.findings { if case .blob = finding.object { known.insert(finding.object) } }
    var last: (blob: [UInt8], number: Int64) = ([], 0)
    var answer: (blob: SHA256Digest, answer: MediaInspector.Answer?)?
    var assets: Int64 = 0
    var decoded = 0
    while true {
      let page = try await pool.run { [last] session in
        try session.execute(
          Integrity.statements["media"], .bytes(last.blob), .integer(last.number), .integer(Self.mediaPage)
        ).map(Told.init)
      }
      guard let end = page.last else { break }
      last = (end.blob.bytes, end.number)
      for told in page {
        assets += 1
        guard !known.contains(.blob(told.blob)) else { continue }
        // As a submission's file and as an output it is looked at in different ways; nobody has both.
        if answer?.blob != told.blob {
          answer = (told.blob, try await inspect(told.blob, isSource: told.isSource, with: inspector))
          if answer?.answer != nil { decoded += 1 }
        }
        if let found = answer?.answer { report.findings += try await judge(told, found) }
        tell(.media, assets, of: Int64(totals.assets))
      }
    }
    report.checked.media = decoded
  }

  /// Nil: the blob is gone by now.
  private func inspect(
    _ hash: SHA256Digest, isSource: Bool, with inspector: MediaInspector
  ) async throws -> MediaInspector.Answer? {
    let inline = try await pool.run { session in
      try session.execute(Integrity.statements["inline_content"], .bytes(hash.bytes)).first?
        .get("inline_content", as: [UInt8]?.self) ?? nil
    }
    let blobs = blobs
    let file = try await onThread("verify-open") { () throws -> OpenFile? in
      if let inline {
        let file = try Descriptor(unnamedIn: "/tmp")
        try file.write(inline)
        return OpenFile(file)
      }
      do {
        return OpenFile(try blobs.open(hash))
      } catch BlobError.missing {
        return nil
      }
    }
    guard let file else { return nil }
    return try await inspector.inspect(file, isSource: isSource)
  }

  private func judge(_ told: Told, _ answer: MediaInspector.Answer) async throws -> [Finding] {
    let code: FindingCode
    let detail: String
    switch answer {
    case .undecodable(let words): (code, detail) = (.mediaUndecodable, words)
    case .invalid(let words): (code, detail) = (.mediaInvalid, words)
    case .decoded(let found):
      let differences = found.differences(from: told.properties)
      if differences.isEmpty { return [] }
      (code, detail) = (.mediaProperties, differences.joined(separator: "; "))
    }
    let owners = try await pool.run { session in
      try session.execute(Integrity.statements["owners_of_asset"], .text(told.id.description)).map(BlobUse.init)
    }
    // Of a set that was replaced nobody is shown anything any more.
    let subjects = owners.compactMap(\.subject)
    guard !subjects.isEmpty else { return [] }
    let isMadeAgain = owners.allSatisfy { $0.hasSources && !$0.role.isSource }
    return [
      Finding(
        code, .asset(told.id), isMadeAgain ? .damaged : .lost,
        detail: "\(owners.first?.role.rawValue ?? ""): \(detail)", subjects: subjects)
    ]
  }
}
