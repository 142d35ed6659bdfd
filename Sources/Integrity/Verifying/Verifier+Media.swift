import Blobs
import Crypto
import Model
import Platform
import Postgres
import Queue
import Store

extension Verifier {
  private static let mediaPage = 100

  /// A blob as a source or as an output, which are inspected differently. It may be both.
  private struct Inspected: Hashable, Sendable {
    let blob: SHA256Digest
    let isSource: Bool
  }

  /// An asset with the properties of its media file in the row.
  private struct StoredMedia: Sendable {
    let number: Int64
    let id: PublicID
    let blob: SHA256Digest
    let isSource: Bool
    let properties: MediaProperties

    var inspected: Inspected { Inspected(blob: blob, isSource: isSource) }

    init(_ row: Row) throws {
      guard let hash = SHA256Digest(bytes: try row.get("blob")) else {
        throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
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

  /// Checks that each media file can be decoded and has the properties in the rows of its assets.
  ///
  /// The blobs are read at the same time, and decoded one after the other.
  ///
  /// Neither the content of a blob nor the properties of an asset change, so that no second check is needed.
  func checkMedia(with inspector: MediaInspector, _ totals: Totals, _ report: inout VerifyReport) async throws {
    // Blobs with findings are not decoded.
    var known: Set<FindingObject> = []
    for finding in report.findings { if case .blob = finding.object { known.insert(finding.object) } }
    var last: (blob: [UInt8], number: Int64) = ([], 0)
    // Of the blobs in a page, and of the last one before it: its assets may go on.
    var results: [Inspected: MediaInspector.Result] = [:]
    var assets: Int64 = 0
    var decoded = 0
    while true {
      let page = try await pool.run { [last] session in
        try session.execute(
          Integrity.statements["media"], .bytes(last.blob), .integer(last.number), .integer(Self.mediaPage)
        ).map(StoredMedia.init)
      }
      guard let end = page.last else { break }
      last = (end.blob.bytes, end.number)
      let checked = page.filter { !known.contains(.blob($0.blob)) }
      var seen = Set(results.keys)
      var done = assets
      try await checked.filter { seen.insert($0.inspected).inserted }.forEach(concurrently: parallel) { media in
        try await inspect(media.blob, isSource: media.isSource, with: inspector)
      } receive: { media, result in
        done += 1
        reportProgress(.media, done, of: Int64(totals.assets))
        guard let result else { return }
        decoded += 1
        results[media.inspected] = result
      }
      for media in checked {
        if let result = results[media.inspected] { report.findings += try await findings(media, result) }
      }
      results = results.filter { $0.key.blob == end.blob }
      assets += Int64(page.count)
      reportProgress(.media, assets, of: Int64(totals.assets))
    }
    report.checked.media = decoded
  }

  /// Decodes a blob; nil: the blob is gone by now.
  private func inspect(
    _ hash: SHA256Digest, isSource: Bool, with inspector: MediaInspector
  ) async throws -> MediaInspector.Result? {
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
        return OpenFile(try blobs.openUncached(hash))
      } catch BlobError.missing {
        return nil
      }
    }
    guard let file else { return nil }
    return try await inspector.inspect(file, isSource: isSource)
  }

  private func findings(_ media: StoredMedia, _ result: MediaInspector.Result) async throws -> [Finding] {
    let code: FindingCode
    let detail: String
    switch result {
    case .undecodable(let reason): (code, detail) = (.mediaUndecodable, reason)
    case .invalid(let violation): (code, detail) = (.mediaInvalid, violation)
    case .decoded(let properties):
      let differences = properties.differences(from: media.properties)
      if differences.isEmpty { return [] }
      (code, detail) = (.mediaProperties, differences.joined(separator: "; "))
    }
    let owners = try await pool.run { session in
      try session.execute(Integrity.statements["owners_of_asset"], .text(media.id.description)).map(BlobUse.init)
    }
    // The media of replaced sets are not shown any more.
    let subjects = owners.compactMap(\.subject)
    guard !subjects.isEmpty else { return [] }
    let canBeMadeAgain = owners.allSatisfy { $0.hasSources && !$0.role.isSource }
    return [
      Finding(
        code, .asset(media.id), canBeMadeAgain ? .damaged : .lost,
        detail: "\(owners.first?.role.rawValue ?? ""): \(detail)", subjects: subjects)
    ]
  }
}
