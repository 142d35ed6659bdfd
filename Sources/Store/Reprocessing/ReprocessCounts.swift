/// How many items of a run stand where.
package struct ReprocessCounts: Sendable, Hashable, Codable {
  /// Not begun.
  package var waiting = 0
  /// Of which a job is in the queue, or at work.
  package var begun = 0
  /// With new outputs.
  package var done = 0
  /// Whose outputs were what the definition makes.
  package var skipped = 0
  /// Whose old outputs stay.
  package var failed = 0
  package var cancelled = 0
  /// That media processes worked on those that are over.
  package var seconds = 0.0

  package init() {}

  package var total: Int { waiting + begun + over }
  /// With an outcome.
  package var over: Int { done + skipped + failed + cancelled }
}
