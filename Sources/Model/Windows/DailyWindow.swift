package import FoundationEssentials

/// The minutes of a day in which everybody films at once.
package struct DailyWindow: Sendable, Hashable {
  package let openedAt: Date
  package let closesAt: Date
  /// By the database's clock, when it was read.
  package let isOpen: Bool

  package init(openedAt: Date, closesAt: Date, isOpen: Bool) {
    self.openedAt = openedAt
    self.closesAt = closesAt
    self.isOpen = isOpen
  }
}
