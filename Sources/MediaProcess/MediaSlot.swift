package import Model
package import Platform

/// Room for the media of one job: a permanent thread and the media process that it owns.
package actor MediaSlot {
  private let executor: ThreadExecutor
  private var process: MediaProcess

  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// - Parameter name: of the thread, at most 15 bytes.
  package init(name: String, configuration: MediaProcess.Configuration) throws(SystemError) {
    executor = try ThreadExecutor(name: name)
    process = MediaProcess(configuration)
  }

  deinit { executor.stop() }

  /// Probes the inputs: returns their facts, or the reasons for which they are refused.
  ///
  /// - Parameters:
  ///   - inputs: a readable descriptor for each input, which must stay open until this returns.
  ///   - deadline: the maximum duration for all inputs together.
  package func probe(
    _ inputs: [InputName: Int32], limits: Limits, deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> ProbeReport {
    try process.probe(inputs, limits: limits, deadline: deadline, cancellation: cancellation)
  }

  /// Runs a plan; see `MediaProcess.run`.
  package func run(
    _ plan: Plan, mode: ExecutionMode = .throughput, inputs: [InputName: Int32], outputs: [Role: Int32],
    deadline: Duration, cancellation: CancellationFlag, progress: @Sendable (Double) -> Void
  ) throws(MediaFailure) -> RunReport {
    try process.run(
      plan, mode: mode, inputs: inputs, outputs: outputs, deadline: deadline, cancellation: cancellation,
      progress: progress)
  }

  /// Runs a plan for one photo; see `MediaProcess.photo`.
  package func photo(
    _ plan: PhotoPlan, photo: Int32, outputs: [Role: Int32], deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> PhotoReport {
    try process.photo(plan, photo: photo, outputs: outputs, deadline: deadline, cancellation: cancellation)
  }

  /// Ends the media process, so that the next request starts a new one.
  package func renew() { process.stop() }

  /// The id of the media process; nil while there is none.
  package var processID: Int32? { process.processID }

  /// Ends the media process and the thread; the slot cannot be used afterwards.
  package func stop() {
    process.stop()
    executor.stop()
  }
}
