import Blobs
import Crypto
import Platform
import Postgres
import Store

extension Verifier {
  /// Every file has a row.
  func checkFiles(_ report: inout VerifyReport) async throws {
    let blobs = blobs
    for part in 0..<blobs.parts {
      let holdings = try await onThread("verify-files") { try blobs.holdings(inPart: part) }
      report.checked.files += holdings.blobs.count
      for hash in try await strays(among: holdings) {
        report.findings.append(
          Finding(
            .orphanFile, .file(Self.path(of: hash)), .litter,
            detail: "it has \(holdings.blobs[hash] ?? 0) bytes, and no row"))
      }
      report.findings += holdings.foreign.map { file in
        Finding(.foreignFile, .file(file.path), .litter, detail: "it is no blob by its name")
      }
      tell(.files, Int64(part + 1), of: Int64(blobs.parts))
    }
    let leftovers = try await onThread("verify-files") { try blobs.leftovers() }
    report.findings += leftovers.map { file in
      Finding(.stagedFile, .file(file.path), .litter, detail: "nobody writes it any more; it has \(file.bytes) bytes")
    }
  }

  private func strays(among holdings: BlobHoldings) async throws -> [SHA256Digest] {
    let rowless = try await holdings.rowless(pool)
    var strays: [SHA256Digest] = []
    for hash in rowless {
      // Perhaps its writer has not committed yet, or is being rolled back.
      let isOrphan = try await pool.transaction { [store] session in try store.isOrphan(hash, session) }
      if isOrphan { strays.append(hash) }
    }
    return strays
  }

  /// As a finding names the file of a blob.
  static func path(of hash: SHA256Digest) -> String { "\(hash.hex.prefix(2))/\(hash.hex)" }
}

extension BlobHoldings {
  private static let page = 1000

  /// The blobs that had no row when they were looked for, in the order of their hashes.
  func rowless(_ pool: Pool) async throws -> [SHA256Digest] {
    var found: [SHA256Digest] = []
    var rest = blobs.keys.sorted()[...]
    while !rest.isEmpty {
      let names = rest.prefix(Self.page).map(\.bytes)
      rest = rest.dropFirst(Self.page)
      found += try await pool.run { session in
        try session.execute(Integrity.statements["rowless"], .byteStrings(names)).compactMap { row in
          SHA256Digest(bytes: try row.get("hash"))
        }
      }
    }
    return found.sorted()
  }
}
