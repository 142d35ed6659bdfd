import Blobs
import Crypto
import Platform
import Postgres
import Store

extension Verifier {
  /// Checks that no post awaits an upload whose bytes it was given; returns the blobs that these have become, which are no orphans.
  func checkUploads(_ report: inout VerifyReport) async throws -> Set<SHA256Digest> {
    let finished = try await FinishedUpload.all(blobs, pool)
    report.findings += finished.map { found in
      Finding(
        .uploadFinished, .post(found.post), .fault, detail: "it awaits the upload \(found.upload), which is finished",
        subjects: [.post(found.post)])
    }
    return Set(finished.compactMap(\.hash))
  }

  /// Checks that each file has a row.
  ///
  /// - Parameter awaited: blobs that posts are about to get.
  func checkFiles(besides awaited: Set<SHA256Digest>, _ report: inout VerifyReport) async throws {
    let blobs = blobs
    var orphans: [(hash: SHA256Digest, bytes: Int64)] = []
    for shard in 0..<blobs.shards {
      let listing = try await onThread("verify-files") { try blobs.listing(ofShard: shard) }
      report.checked.files += listing.blobs.count
      for hash in try await self.orphans(among: listing) where !awaited.contains(hash) {
        orphans.append((hash, listing.blobs[hash] ?? 0))
      }
      report.findings += listing.foreign.map { file in
        Finding(.foreignFile, .file(file.path), .orphan, detail: "not the name of a blob")
      }
      reportProgress(.files, Int64(shard + 1), of: Int64(blobs.shards))
    }
    if !orphans.isEmpty { try await Task.sleep(for: publicationTime) }
    for (hash, bytes) in orphans where try await store.collecting.isOrphan(hash, pool) {
      report.findings.append(
        Finding(
          .orphanFile, .file(Self.path(of: hash)), .orphan, detail: "no row for a file of \(bytes) bytes"))
    }
    let staged = try await onThread("verify-files") { try blobs.stagedOrphans() }
    report.findings += staged.map { file in
      Finding(
        .stagedFile, .file(file.path), .orphan, detail: "\(file.bytes) bytes; the process that wrote the file has ended"
      )
    }
  }

  private func orphans(among listing: BlobListing) async throws -> [SHA256Digest] {
    var orphans: [SHA256Digest] = []
    for hash in try await listing.orphanCandidates(pool) {
      // The transaction that wrote the file may still be open.
      if try await store.collecting.isOrphan(hash, pool) { orphans.append(hash) }
    }
    return orphans
  }

  /// The path of a blob's file relative to the folder of the blob store.
  static func path(of hash: SHA256Digest) -> String { "\(hash.hex.prefix(2))/\(hash.hex)" }
}

extension BlobListing {
  private static let page = 1000

  /// Returns the blobs without a committed row, in the order of their hashes.
  func orphanCandidates(_ pool: Pool) async throws -> [SHA256Digest] {
    var found: [SHA256Digest] = []
    var rest = blobs.keys.filter { !recent.contains($0) }.sorted()[...]
    while !rest.isEmpty {
      let names = rest.prefix(Self.page).map(\.bytes)
      rest = rest.dropFirst(Self.page)
      found += try await pool.run { session in
        try session.execute(Integrity.statements["hashes_without_row"], .byteStrings(names)).compactMap { row in
          SHA256Digest(bytes: try row.get("hash"))
        }
      }
    }
    return found.sorted()
  }
}
