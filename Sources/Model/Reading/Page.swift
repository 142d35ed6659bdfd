/// A part of a list, the newest first.
package struct Page<Element: Sendable>: Sendable {
  package let items: [Element]
  /// Where the next page begins; nil: there is none.
  package let next: PageCursor?

  package init(items: [Element], next: PageCursor?) {
    self.items = items
    self.next = next
  }
}
