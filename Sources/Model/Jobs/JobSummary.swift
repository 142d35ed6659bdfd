/// What a post tells of its job.
package struct JobSummary: Codable, Sendable, Hashable {
  package let id: PublicID
  package let state: JobState
  /// 0 to 1.
  package let progress: Double

  package init(id: PublicID, state: JobState, progress: Double) {
    self.id = id
    self.state = state
    self.progress = progress
  }
}
