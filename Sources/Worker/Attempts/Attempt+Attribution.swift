import Crypto
import Logging
import MediaProcess
import Model
import Platform
import Store

/// The attribution of the crashes of a moment to its clips.
extension Attempt {
  /// Runs each clip without the other, as the definition says of the moment, and discards the outputs.
  ///
  /// The clips of a moment are decoded in one process, which an intruder in either can end: its end is no evidence
  /// against one of them. That of a process with one clip is, whatever runs in it. A verdict that it replies is not read.
  func attribute(_ moment: Work.Moment, of work: Work) async throws -> AttemptEnding {
    var crashes: [Camera: CrashFacts] = [:]
    for camera in Camera.allCases {
      do {
        try await run(camera, of: moment, in: work)
      } catch let failure as MediaFailure {
        // The process was stopped, whatever it ended by.
        guard control.stopReason == nil else { throw failure }
        if let code = failure.refusalCode {
          crashes[camera] = CrashFacts(failure, code, photo: nil)
        } else if failure.kind != .internal && failure.kind != .protocolViolation {
          // A process that another one killed, or that lacked something, shows nothing.
          throw failure
        }
      }
    }
    return .attributed(work, crashes)
  }

  private func run(_ camera: Camera, of moment: Work.Moment, in work: Work) async throws {
    let (clock, input, definition) = (ContinuousClock(), InputName(camera), moment.definition)
    let end = clock.now + .seconds(definition.deadlineSeconds)
    control.begin(.fetch)
    let file = try open(moment.clip(of: camera), of: work)
    defer { withExtendedLifetime(file) {} }
    let inputs = [input: file.descriptor.number]

    let fraction = camera == .front ? 0 : 0.5
    control.advance(.probe, fraction)
    let probed = try await media.probe(
      inputs, limits: definition.limits, deadline: clock.now.duration(to: end), cancellation: control.cancellation)
    guard probed.reasons.isEmpty, let facts = probed.facts[input] else { return }
    let plan = Planner(definition).plan(alone: facts, as: camera, foreground: moment.foreground)
    let outputs = try Outputs(plan.outputs, in: blobs)
    defer { withExtendedLifetime(outputs) {} }
    log.debug("attributing", ["clip": input.rawValue])
    _ = try await media.run(
      plan, mode: mode, inputs: inputs, outputs: outputs.descriptors, deadline: clock.now.duration(to: end),
      cancellation: control.cancellation
    ) { [control] done in control.advance(.compose, fraction + done / 2) }
  }
}
