import Blobs
import Crypto
import Logging
import MediaProcess
import Model
import Platform
import Store

/// One attempt at a post: probe, plan, run, and seal what came out.
struct PostAttempt: Sendable {
  let held: HeldJob
  let slot: MediaSlot
  let mode: ExecutionMode
  let blobs: any BlobStore
  let log: Logger

  /// Carries out the work that was read for the job.
  func run(_ work: PostWork) async -> AttemptEnding {
    do {
      return try await carryOut(work)
    } catch let failure as MediaFailure {
      if let stop = held.stopReason { return .stopped(stop) }
      return failure.mayBeTheMedia ? .broken(failure) : .failed(failure.description)
    } catch {
      if let stop = held.stopReason { return .stopped(stop) }
      return .failed("\(error)")
    }
  }

  private func carryOut(_ work: PostWork) async throws -> AttemptEnding {
    let definition = work.definition
    let clock = ContinuousClock()
    let end = clock.now + .seconds(definition.deadlineSeconds)
    // The sources stay open here while the media process works on its copies of the descriptors.
    let frontFile = OpenFile(try blobs.open(work.front))
    let backFile = OpenFile(try blobs.open(work.back))
    let inputs: [InputName: Int32] = [
      .front: frontFile.descriptor.number, .back: backFile.descriptor.number,
    ]
    defer { withExtendedLifetime((frontFile, backFile)) {} }

    held.advance(to: JobProgress(fraction: 0.01, stage: "probe"))
    let probed = try await slot.probe(
      inputs, limits: definition.limits, deadline: clock.now.duration(to: end), cancellation: held.cancellation)
    guard probed.reasons.isEmpty, let front = probed.facts[.front], let back = probed.facts[.back] else {
      return .rejected(probed.verdict)
    }

    let plan = Planner(definition).plan(front: front, back: back, foreground: work.foreground)
    let outputs = try Outputs(of: plan, in: blobs)
    log.debug("composing", ["mode": mode.rawValue])
    let report = try await slot.run(
      plan, mode: mode, inputs: inputs, outputs: outputs.descriptors, deadline: clock.now.duration(to: end),
      cancellation: held.cancellation
    ) { [held] fraction in
      // The last twentieth is for hashing and publishing.
      held.advance(to: JobProgress(fraction: 0.02 + fraction * 0.93, stage: "compose"))
    }
    guard report.verdict.verdict == .accepted else { return .rejected(report.verdict) }

    held.advance(to: JobProgress(fraction: 0.96, stage: "publish"))
    let assets = try outputs.seal(report.outputs)
    let recipe = SHA256.digest(of: try JSON.encode(Recipe(definition: work.definitionHash, plan: plan)))
    if let stop = held.stopReason { return .stopped(stop) }
    return .accepted(report.verdict, outputs: assets, recipe: recipe)
  }
}
