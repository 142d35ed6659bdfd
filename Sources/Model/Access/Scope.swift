/// What an API key admits to.
package enum Scope: String, Codable, Sendable, CaseIterable {
  /// To submit, change and delete.
  case submit
  /// To read and list.
  case read
  /// To look at the service itself: its metrics and jobs.
  case admin
}
