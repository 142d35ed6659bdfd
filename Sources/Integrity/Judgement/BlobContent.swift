/// What was found where the bytes of a blob may lie.
package enum BlobContent: Sendable, Hashable {
  case absent
  /// They are what the hash says, so many.
  case whole(bytes: Int64)
  /// They are something else, or cannot be read: how, in words.
  case wrong(String)

  var isWhole: Bool { if case .whole = self { true } else { false } }
  var isAbsent: Bool { self == .absent }
}
