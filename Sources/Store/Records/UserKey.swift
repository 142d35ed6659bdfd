/// A user as the key of a dictionary: PostgreSQL compares ids by their bytes, and Swift's texts also equate different bytes
/// of the same characters.
package struct UserKey: Sendable, Hashable {
  package let text: String
  private let bytes: [UInt8]

  package init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  package static func == (left: UserKey, right: UserKey) -> Bool { left.bytes == right.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension UserKey: Comparable {
  package static func < (left: UserKey, right: UserKey) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
