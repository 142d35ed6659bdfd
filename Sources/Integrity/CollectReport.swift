package import FoundationEssentials

/// The orphans that a collection removed, or would remove.
package struct CollectReport: Encodable, Sendable {
  /// A number of objects and their total size.
  package struct Amount: Encodable, Sendable, Hashable {
    package var count = 0
    package var bytes: Int64 = 0

    package init(count: Int = 0, bytes: Int64 = 0) {
      self.count = count
      self.bytes = bytes
    }

    static func += (sum: inout Amount, other: Amount) {
      sum.count += other.count
      sum.bytes &+= other.bytes
    }
  }

  /// Whether the collection only counted, and removed nothing.
  package let isDryRun: Bool
  /// The end of the hold on collecting; nil: there is no hold.
  package internal(set) var heldUntil: Date?
  /// Sets that were replaced longer ago than the grace period.
  package internal(set) var retiredSets = 0
  /// Sets that no post or image refers to.
  package internal(set) var orphanSets = 0
  /// Blobs that nothing refers to.
  package internal(set) var blobs = Amount()
  /// Blobs that nothing refers to and that are removed later, once the pause since their release has ended.
  package internal(set) var waiting = Amount()
  /// Files without a row.
  package internal(set) var orphanFiles = Amount()
  /// Staged files of processes that have ended.
  package internal(set) var stagedFiles = Amount()
  /// Expired responses to requests with an idempotency key.
  package internal(set) var answers = 0

  init(isDryRun: Bool) { self.isDryRun = isDryRun }

  private enum CodingKeys: String, CodingKey {
    case isDryRun = "dryRun"
    case heldUntil
    case retiredSets
    case orphanSets = "looseSets"
    case blobs
    case waiting
    case orphanFiles = "strayFiles"
    case stagedFiles
    case answers
  }
}
