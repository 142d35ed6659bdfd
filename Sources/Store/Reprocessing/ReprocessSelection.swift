package import FoundationEssentials
package import Model

/// Which stored media are to be processed again; what is nil or empty selects nothing away.
package struct ReprocessSelection: Codable, Sendable, Hashable {
  /// Of posts and images that are there; those that wait for their first job are nobody else's business.
  package enum Status: String, Codable, Sendable, CaseIterable {
    /// Readers see outputs of it.
    case ready
    /// Its job is dead or cancelled.
    case failed
  }

  package var kinds: Set<SubjectKind> = []
  package var statuses: Set<Status> = [.ready]
  /// The name of the definition that made the current outputs.
  package var definition: String?
  /// Made by a version before this one.
  package var versionBelow: Int?
  package var createdAfter: Date?
  package var createdBefore: Date?
  package var author: String?
  /// Of posts and images; nil: any.
  package var ids: [PublicID]?
  /// The current outputs have none of this role.
  package var missing: Role?
  /// What the last error of its job, or of an earlier run, contains, whatever the case of its letters.
  package var error: String?
  /// So many at most, the newest.
  package var limit: Int?

  package init() {}

  /// As it is kept for people: of ids only how many.
  var record: [UInt8] {
    get throws { try JSON.encode(Record(self)) }
  }

  private struct Record: Encodable {
    var selection: ReprocessSelection
    var count: Int?

    init(_ selection: ReprocessSelection) {
      self.selection = selection
      count = selection.ids?.count
      self.selection.ids = nil
    }
  }
}
