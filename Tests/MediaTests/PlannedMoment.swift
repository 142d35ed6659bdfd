import AV
import MediaFixtures
import Model
import Platform
import Testing

@testable import Media

/// A moment that was probed and planned, and whose run is made phase by phase.
struct PlannedMoment {
  var plan: Plan
  private let inputs: [InputName: OpenFile]
  private let files: [Role: OpenFile]

  init(front: OpenFile, back: OpenFile, definition: Definition? = nil, roles: Set<Role>? = nil) throws {
    let definition = try definition ?? MomentRun.definition()
    let prober = Prober(limits: definition.limits)
    plan = Planner(definition).plan(
      front: try prober.probe(front, as: .front).get(), back: try prober.probe(back, as: .back).get(),
      foreground: .front, roles: roles)
    inputs = [.front: front, .back: back]
    files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
  }

  func scan() throws(RunEnding) -> ScannedInputs {
    let sources = inputs.map { name, file in
      (name, InputSource(name: name, file: file, limits: plan.limits, interrupt: Interrupt()))
    }
    return try ScannedInputs(of: plan, from: Dictionary(uniqueKeysWithValues: sources), mode: .throughput)
  }

  func openClips() throws(RunEnding) -> OpenedClips { try OpenedClips(scan(), mode: .throughput) }

  /// - Parameter hasFiles: whether each output has its file.
  func openOutputs(hasFiles: Bool = true) throws(RunEnding) -> OpenedOutputs {
    try OpenedOutputs(of: plan, from: openClips(), to: hasFiles ? files : [:])
  }

  /// The report of the phase that rejects the moment.
  static func rejection<Phase>(of phase: () throws(RunEnding) -> Phase) throws -> RunReport {
    do {
      _ = try phase()
    } catch {
      guard case .rejected(let report) = error else { throw error }
      #expect(report.verdict.verdict == .rejected && report.outputs.isEmpty)
      return report
    }
    throw NotRejected()
  }

  struct NotRejected: Error {}
}
