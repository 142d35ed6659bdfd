package import Model
package import Platform

/// Carries out a plan: each input is decoded once and feeds its validation and every output.
///
/// It is synchronous on the calling thread, reads and writes only the files it is given, and writes the same bytes for
/// the same plan and inputs.
package struct PlanRunner: Sendable {
  private let plan: Plan
  private let cancellation: CancellationFlag

  /// - Parameter cancellation: read between packets; the outputs of a cancelled run are unfinished.
  package init(_ plan: Plan, cancellation: CancellationFlag = CancellationFlag()) {
    self.plan = plan
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
    try PlanExecution(plan, inputs: inputs, outputs: outputs, cancellation: cancellation).run(progress: progress)
  }
}
