package import Model
package import Platform

/// What a worker asks of a media process; its tests can replace the process.
package protocol MediaRunner: Sendable {
  /// The versions of the media libraries at run time, by library; they are part of the recipe.
  func libraryVersions() async throws(MediaFailure) -> [String: String]

  /// Probes the inputs: returns their facts, or the reasons for which they are refused.
  ///
  /// - Parameters:
  ///   - inputs: a readable, seekable descriptor for each input, which must stay open until this returns.
  ///   - deadline: the maximum duration for all inputs together.
  func probe(
    _ inputs: [InputName: Int32], limits: Limits, deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> ProbeReport

  /// Runs a plan.
  ///
  /// - Parameters:
  ///   - inputs: a readable descriptor for each input of the plan, owned by the caller.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan, owned by the caller.
  ///   - progress: called with the completed fraction, 0 to 1.
  func run(
    _ plan: Plan, mode: ExecutionMode, inputs: [InputName: Int32], outputs: [Role: Int32], deadline: Duration,
    cancellation: CancellationFlag, progress: @Sendable (Double) -> Void
  ) async throws(MediaFailure) -> RunReport

  /// Runs a plan for one photo.
  ///
  /// - Parameters:
  ///   - photo: a readable descriptor, owned by the caller.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan, owned by the caller.
  func photo(
    _ plan: PhotoPlan, photo: Int32, outputs: [Role: Int32], deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> PhotoReport
}
