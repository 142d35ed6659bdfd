/// With what a job ends.
package enum Completion: String, Sendable {
  /// Its media were accepted.
  case accepted = "a"
  /// Its media were rejected.
  case rejected = "r"
  case cancelled = "c"
}
