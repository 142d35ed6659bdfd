/// Where a page of a list ends: the next one begins behind it, whatever was added meanwhile.
package struct PageCursor: Sendable, Hashable {
  /// When the last record of the page was made, in microseconds since 1970-01-01 UTC.
  package let time: Int64
  /// Its number inside the database.
  package let id: Int64

  package init(time: Int64, id: Int64) {
    self.time = time
    self.id = id
  }

  /// Reads what `text` gives; nil if it is anything else.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Self.number(parts[0]), let id = Self.number(parts[1]) else { return nil }
    self.init(time: time, id: id)
  }

  private static func number(_ text: some StringProtocol) -> Int64? {
    // Twelve digits always fit, and last beyond every time that the database knows.
    guard 1...12 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 }) else {
      return nil
    }
    return Int64(text, radix: 36)
  }

  /// As clients carry it; they make nothing of it.
  package var text: String { String(time, radix: 36) + "-" + String(id, radix: 36) }
}
