package import FoundationEssentials

/// What nothing refers to, and was removed or would be.
package struct CollectReport: Encodable, Sendable {
  /// Things and their bytes.
  package struct Amount: Encodable, Sendable, Hashable {
    package var count = 0
    package var bytes: Int64 = 0

    package init(count: Int = 0, bytes: Int64 = 0) {
      self.count = count
      self.bytes = bytes
    }

    static func += (sum: inout Amount, other: Amount) {
      sum.count += other.count
      sum.bytes += other.bytes
    }
  }

  /// Whether nothing was changed.
  package let isDryRun: Bool
  /// Until when nothing is removed; nil: no hold stands.
  package internal(set) var heldUntil: Date?
  /// Sets that others took the place of, longer ago than the grace period.
  package internal(set) var retiredSets = 0
  /// Sets that nobody refers to.
  package internal(set) var orphanSets = 0
  /// Blobs that no asset names any more.
  package internal(set) var blobs = Amount()
  /// Files without a row.
  package internal(set) var orphanFiles = Amount()
  /// Files that died before they were whole.
  package internal(set) var stagedFiles = Amount()
  /// Answers to repeated requests whose time is over.
  package internal(set) var answers = 0

  init(isDryRun: Bool) { self.isDryRun = isDryRun }

  private enum CodingKeys: String, CodingKey {
    case isDryRun = "dryRun"
    case heldUntil
    case retiredSets
    case orphanSets
    case blobs
    case orphanFiles
    case stagedFiles
    case answers
  }
}
