/// What a merge patch says of a member whose value may be unknown (RFC 7396).
package enum MemberChange<Value: Sendable & Hashable>: Sendable, Hashable {
  /// The patch leaves it out.
  case keep
  /// Nil: the patch erases it.
  case set(Value?)

  /// Applies the change to a value.
  package func applied(to value: Value?) -> Value? {
    switch self {
    case .keep: value
    case .set(let new): new
    }
  }
}
