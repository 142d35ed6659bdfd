package import FoundationEssentials

/// A cron entry as an operator sees it.
package struct CronRecord: Sendable, Hashable {
  package let entry: CronEntry
  package let isPaused: Bool
  /// The time for which it fired last.
  package let lastAt: Date?
  /// The times for which it fires next, the first first; none while it is paused.
  package let next: [Date]
}
