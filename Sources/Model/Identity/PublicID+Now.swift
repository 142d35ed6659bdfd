import FoundationEssentials

extension PublicID {
  /// An id for a record that is made now.
  package static func now() -> PublicID {
    var random = SystemRandomNumberGenerator()
    return PublicID(milliseconds: UInt64(max(0, Date().timeIntervalSince1970 * 1000)), random: &random)
  }
}
