package import Model
package import Platform

/// Carries out a plan: each input is decoded once and feeds its validation and every output.
///
/// It is synchronous for its caller, reads and writes only the files it is given, and writes the same bytes for
/// the same plan and inputs.
package struct PlanRunner: Sendable {
  private let plan: Plan
  private let mode: ExecutionMode
  private let cancellation: CancellationFlag

  /// - Parameters:
  ///   - mode: on how many threads it works.
  ///   - cancellation: read between packets; the outputs of a cancelled run are unfinished.
  package init(_ plan: Plan, mode: ExecutionMode = .throughput, cancellation: CancellationFlag = CancellationFlag()) {
    self.plan = plan
    self.mode = mode
    self.cancellation = cancellation
  }

  /// Runs the plan.
  ///
  /// - Parameters:
  ///   - inputs: a readable, seekable file for each input of the plan.
  ///   - outputs: an empty, readable, writable and seekable file for each of `plan.outputs`.
  ///   - progress: told after each picture how far it has come, 0 to 1.
  /// - Returns: the verdict and, when accepted, what is known of each output. When rejected the outputs are unfinished.
  package func run(
    inputs: [InputName: OpenFile], outputs: [Role: OpenFile], progress: (Double) -> Void = { _ in }
  ) throws(MediaError) -> RunReport {
    try PlanExecution(plan, mode: mode, inputs: inputs, outputs: outputs, cancellation: cancellation)
      .run(progress: progress)
  }
}
