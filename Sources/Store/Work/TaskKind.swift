/// The short jobs that a worker carries out beside the media's.
package enum TaskKind: String, Sendable, CaseIterable {
  /// Opens the daily window.
  case window

  /// The queue that they wait in.
  package static let queue = "tasks"
}
