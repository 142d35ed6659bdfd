import AV
package import Model
package import Platform

/// Reads what an input's headers and its first frames say, and refuses what they already rule out.
///
/// It is synchronous and reads the file by position only.
package struct Prober: Sendable {
  let limits: Limits
  let cancellation: CancellationFlag

  /// - Parameters:
  ///   - limits: what inputs may be.
  ///   - cancellation: read between packets.
  package init(limits: Limits, cancellation: CancellationFlag = CancellationFlag()) {
    self.limits = limits
    self.cancellation = cancellation
  }

  /// The facts of a clip, or the reason for which it is refused.
  ///
  /// - Throws: `MediaError` where nothing can be said about the media.
  package func probe(_ file: OpenFile, as input: InputName) throws(MediaError) -> Result<ClipFacts, Reason> {
    throw MediaError(.invalidPlan, "not there yet")
  }
}
