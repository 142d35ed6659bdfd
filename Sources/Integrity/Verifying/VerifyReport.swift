/// What was looked at, and what was found.
package struct VerifyReport: Encodable, Sendable {
  /// How much was looked at.
  package struct Checked: Encodable, Sendable, Hashable {
    package var blobs = 0
    /// Read and hashed, in rows and in files.
    package var bytes: Int64 = 0
    package var sets = 0
    package var posts = 0
    package var images = 0
    /// In the blob store.
    package var files = 0
    /// Media files that were decoded; nil: none was to be.
    package var media: Int?
  }

  package internal(set) var checked = Checked()
  package internal(set) var findings: [Finding] = []

  /// Whether nothing was found.
  package var isWhole: Bool { findings.isEmpty }

  /// Codes that say that somebody's sources are not to be had.
  private static let sourceCodes: Set<FindingCode> = [
    .sourceMissing, .sourceCorrupt, .sourcesMissing, .setEmpty, .assetMissing, .blobRowMissing,
  ]

  /// Settles what can be made again, now that all is looked at.
  mutating func settle() {
    let lost = findings.filter { $0.severity == .lost && Self.sourceCodes.contains($0.code) }.flatMap(\.subjects)
    findings = findings.map { $0.settled(lost: Set(lost)) }
  }
}
