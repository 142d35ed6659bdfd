/// Why the picture of a HEIF or AVIF is not handed to a decoder; the findings are clauses.
package enum HEIFRefusal: Error, Sendable, Hashable {
  /// It ends before its boxes say.
  case truncated(String)
  /// Its boxes contradict each other.
  case damaged(String)
  /// It is made in a way that is not decoded here.
  case unsupported(String)
  /// It is larger than the limit, or is put together of more than the limit allows for.
  case tooManyPixels
}
