/// A page of a list, newest first.
package struct Page<Element: Sendable>: Sendable {
  package let items: [Element]
  /// The cursor of the next page; nil on the last page.
  package let next: PageCursor?

  package init(items: [Element], next: PageCursor?) {
    self.items = items
    self.next = next
  }
}

/// A request for a page of a list.
package struct PageRequest: Sendable, Hashable {
  /// The allowed numbers of records in a page.
  package static let limits = 1...100

  package var limit: Int
  /// Nil: the first page.
  package var after: PageCursor?

  package init(limit: Int = 50, after: PageCursor? = nil) {
    self.limit = limit
    self.after = after
  }
}

/// The position of the last record of a page. The next page begins after it, even if records were added meanwhile.
package struct PageCursor: Sendable, Hashable {
  /// The creation time of the record, in microseconds since 1970-01-01 UTC.
  package let time: Int64
  /// The primary key of the record.
  package let id: Int64

  package init(time: Int64, id: Int64) {
    self.time = time
    self.id = id
  }

  /// Parses the form of `text`; nil for any other text.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Self.number(parts[0]), let id = Self.number(parts[1]) else { return nil }
    self.init(time: time, id: id)
  }

  private static func number(_ text: some StringProtocol) -> Int64? {
    // Twelve digits of base 36 fit into 64 bits and hold every time of the database.
    guard 1...12 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 }) else {
      return nil
    }
    return Int64(text, radix: 36)
  }

  /// The opaque form for clients.
  package var text: String { String(time, radix: 36) + "-" + String(id, radix: 36) }
}
