package import Model

/// Which jobs a list shows, the newest first.
package struct JobFilter: Sendable {
  package var state: JobState?
  package var kind: String?
  package var author: String?
  /// Only jobs older than this one: the last of the list before.
  package var before: PublicID?
  package var limit: Int

  package init(
    state: JobState? = nil, kind: String? = nil, author: String? = nil, before: PublicID? = nil, limit: Int = 20
  ) {
    self.state = state
    self.kind = kind
    self.author = author
    self.before = before
    self.limit = limit
  }
}
