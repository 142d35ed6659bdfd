package import FoundationEssentials
package import Model

/// Which jobs are meant, of lists and of what is done to many at once; the newest first. What is not said holds for any.
package struct JobFilter: Sendable, Hashable {
  /// Empty: any.
  package var states: Set<JobState>
  package var queue: String?
  package var kind: String?
  package var author: String?
  /// What the last error contains, whatever the case of its letters.
  package var error: String?
  /// When it was put into its queue: from the first on, before the second.
  package var createdAfter: Date?
  package var createdBefore: Date?
  /// When it ended: from the first on, before the second. Only what is over has ended.
  package var finishedAfter: Date?
  package var finishedBefore: Date?
  /// Empty: any.
  package var ids: [PublicID]
  /// Only jobs older than this one: the last of the list before.
  package var before: PublicID?
  package var limit: Int

  package init(
    states: Set<JobState> = [], kind: String? = nil, author: String? = nil, ids: [PublicID] = [],
    before: PublicID? = nil, limit: Int = 20
  ) {
    self.states = states
    self.kind = kind
    self.author = author
    self.ids = ids
    self.before = before
    self.limit = limit
  }
}
