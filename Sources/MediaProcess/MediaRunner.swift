package import Model
package import Platform

/// What a worker asks of a media process; its tests can replace the process.
package protocol MediaRunner: Sendable {
  /// The versions of the media libraries at run time, by library; they are part of the recipe.
  func libraryVersions() async throws(MediaFailure) -> [String: String]

  /// Probes clips, plans what is made of them, and makes it.
  ///
  /// - Parameters:
  ///   - clips: a readable, seekable file for each clip.
  ///   - deadline: the maximum duration of all steps together.
  ///   - plan: returns the plan for the facts of the clips, and a writable, seekable and readable file for each of its outputs;
  ///     nil: nothing is made. The media process waits for it.
  ///   - progress: of the run; called with the completed fraction, 0 to 1.
  /// - Returns: the report of the run; without a plan the report of the probe, which has no outputs.
  /// - Throws: `MediaFailure`, or what `plan` throws.
  func process(
    _ clips: [InputName: OpenFile], limits: Limits, mode: ExecutionMode, deadline: Duration,
    cancellation: CancellationFlag, plan: @Sendable ([InputName: ClipFacts]) throws -> (Plan, [Role: OpenFile])?,
    progress: @Sendable (Double) -> Void
  ) async throws -> RunReport

  /// Runs a plan for one photo.
  ///
  /// - Parameters:
  ///   - photo: a readable file.
  ///   - outputs: a writable, seekable and readable file for each output of the plan.
  func photo(
    _ plan: PhotoPlan, photo: OpenFile, outputs: [Role: OpenFile], deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> PhotoReport
}
