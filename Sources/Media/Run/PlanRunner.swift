import AV
package import Model
package import Platform

/// Runs a plan: it decodes the pictures of each input once, validates it, and writes every output.
///
/// A run is synchronous, and reads and writes only the files that it is given. The same plan and inputs give outputs
/// with the same bytes.
package struct PlanRunner {
  private let plan: Plan
  private let mode: ExecutionMode
  private let sources: [InputName: InputSource]
  private let files: [Role: OpenFile]

  /// - Parameters:
  ///   - mode: determines the number of threads.
  ///   - inputs: a readable, seekable file for each input of the plan.
  ///   - outputs: an empty, readable, writable and seekable file for each of `plan.outputs`.
  ///   - cancellation: read between packets; the outputs of a cancelled run are incomplete.
  package init(
    _ plan: Plan, mode: ExecutionMode = .throughput, inputs: [InputName: OpenFile], outputs: [Role: OpenFile],
    cancellation: CancellationFlag = CancellationFlag()
  ) {
    self.plan = plan
    self.mode = mode
    files = outputs
    let interrupt = Interrupt(flag: cancellation)
    sources = inputs.reduce(into: [:]) { sources, input in
      let container = plan.inputs[input.key]?.facts.container ?? .mp4
      sources[input.key] = InputSource(
        name: input.key, file: input.value, limits: plan.limits, interrupt: interrupt, format: .init(container))
    }
  }

  /// Runs the plan, once.
  ///
  /// - Parameter progress: called after each tick with the completed fraction, 0 to 1.
  /// - Returns: the verdict and, if it is accepted, the facts of each output. Outputs of a rejected run are incomplete.
  package func run(progress: (Double) -> Void = { _ in }) throws(MediaError) -> RunReport {
    do {
      if plan.isLook == true { return try LookRunner(mode: mode, sources: sources, files: files).run(plan) }
      let scanned = try ScannedInputs(of: plan, from: sources, mode: mode)
      let clips = try OpenedClips(scanned, mode: mode)
      let outputs = try OpenedOutputs(of: plan, from: clips, to: files)
      let written = try WrittenOutputs(of: plan, outputs, progress: progress)
      progress(1)
      return written.report
    } catch {
      switch error {
      case .rejected(let report): return report
      case .failed(let failure): throw failure
      }
    }
  }
}
