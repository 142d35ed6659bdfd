/// An act that a test may interrupt, just before it and just after it: the points `<name>.before` and `<name>.after`.
///
/// It costs one load and one branch unless the process was started with `TAKE5_FAILPOINTS`.
package struct Failpoint: Sendable, Hashable {
  /// What the act is called: `blob.synchronize`, `queue.claim`.
  package let name: String
  /// Whether it happens on a connection that can be cut there.
  package let isOnConnection: Bool

  package init(_ name: String, isOnConnection: Bool = false) {
    self.name = name
    self.isOnConnection = isOnConnection
  }

  /// The names of its two points.
  package var points: [String] { ["\(name).before", "\(name).after"] }

  /// Does the act, and passes its points on the way; an act that fails has no after.
  @inline(__always)
  package func around<Result: ~Copyable, Failure: Error>(
    _ act: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard Failpoints.areArmed else { return try act() }
    Failpoints.pass("\(name).before")
    let result = try act()
    Failpoints.pass("\(name).after")
    return result
  }
}
