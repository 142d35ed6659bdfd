package import Model
package import Platform

/// What a worker asks of a media process; its tests can replace the process.
package protocol MediaRunner: Sendable {
  /// The versions of the media libraries at run time, by library; they are part of the recipe.
  func libraryVersions() async throws(MediaFailure) -> [String: String]

  /// Probes the inputs: returns their facts, or the reasons for which they are refused.
  ///
  /// - Parameters:
  ///   - inputs: a readable, seekable file for each input.
  ///   - deadline: the maximum duration for all inputs together.
  func probe(
    _ inputs: [InputName: OpenFile], limits: Limits, deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> ProbeReport

  /// Runs a plan.
  ///
  /// - Parameters:
  ///   - inputs: a readable file for each input of the plan.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan, owned by the caller.
  ///   - progress: called with the completed fraction, 0 to 1.
  func run(
    _ plan: Plan, mode: ExecutionMode, inputs: [InputName: OpenFile], outputs: [Role: Int32], deadline: Duration,
    cancellation: CancellationFlag, progress: @Sendable (Double) -> Void
  ) async throws(MediaFailure) -> RunReport

  /// Runs a plan for one photo.
  ///
  /// - Parameters:
  ///   - photo: a readable file.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan, owned by the caller.
  func photo(
    _ plan: PhotoPlan, photo: OpenFile, outputs: [Role: Int32], deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> PhotoReport
}

extension MediaRunner {
  /// Probes clips, plans what is made of them, and makes it.
  ///
  /// - Parameters:
  ///   - deadline: the maximum duration of all steps together.
  ///   - plan: returns the plan for the facts of the clips, and a descriptor for each of its outputs; nil: nothing is made.
  ///   - progress: of the run; called with the completed fraction, 0 to 1.
  /// - Returns: the report of the run; without a plan that of the probe, which has no outputs.
  package func process(
    _ clips: [InputName: OpenFile], limits: Limits, mode: ExecutionMode = .throughput, deadline: Duration,
    cancellation: CancellationFlag, plan: ([InputName: ClipFacts]) async throws -> (Plan, [Role: Int32])?,
    progress: @Sendable (Double) -> Void = { _ in }
  ) async throws -> RunReport {
    let clock = ContinuousClock()
    let end = clock.now + deadline
    let probed = try await probe(clips, limits: limits, deadline: deadline, cancellation: cancellation)
    guard probed.reasons.isEmpty, let (plan, outputs) = try await plan(probed.facts) else {
      return RunReport(verdict: probed.verdict, outputs: [])
    }
    return try await run(
      plan, mode: mode, inputs: clips, outputs: outputs, deadline: clock.now.duration(to: end),
      cancellation: cancellation, progress: progress)
  }
}
