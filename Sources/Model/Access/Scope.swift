/// What an API key admits to.
package enum Scope: String, Codable, Sendable, CaseIterable {
  /// To submit: posts, comments, reactions and images.
  case submit
  /// To read and list.
  case read
  /// To change what was submitted.
  case change
  /// To delete what was submitted.
  case delete
  /// To look at the service itself: its metrics and jobs.
  case admin
}
