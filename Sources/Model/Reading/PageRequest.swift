/// Which part of a list is asked for.
package struct PageRequest: Sendable, Hashable {
  /// The most records of a page.
  package static let limits = 1...100

  package var limit: Int
  /// Nil: the first page.
  package var after: PageCursor?

  package init(limit: Int = 50, after: PageCursor? = nil) {
    self.limit = limit
    self.after = after
  }
}
