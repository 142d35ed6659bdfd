import Blobs
import Crypto
import Logging
import MediaProcess
import Model
import Platform
import QueueWorker
import Store

/// One attempt at a moment, a clip or photos: run what the definition says, and seal what came out.
struct Attempt<Control: AttemptControl>: Sendable {
  let control: Control
  let slot: MediaSlot
  let mode: ExecutionMode
  /// Whether it is alone in its queue here, in a fresh media process: then what breaks that is the media's.
  let isIsolated: Bool
  let blobs: any BlobStore
  let log: Logger

  /// Carries out the work that was read for the job.
  func run(_ work: Work) async -> AttemptEnding {
    let ending = await carryOut(work)
    switch ending {
    case .rejected, .broken, .failed:
      // What a damaged file does is nobody's fault who submitted it.
      do { try work.checkSources(in: blobs) } catch { return AttemptEnding(error, isIsolated: isIsolated) }
    default: break
    }
    return ending
  }

  private func carryOut(_ work: Work) async -> AttemptEnding {
    switch work.reprocessing?.state {
    case .paused: return .superseded(.requeued)
    case .cancelled: return .superseded(.cancelled)
    case .running, .completed, nil: break
    }
    do {
      switch work.content {
      case .moment(let moment):
        return try await carryOut(moment.definition, [.front: moment.front, .back: moment.back], of: work) { facts in
          guard let front = facts[.front], let back = facts[.back] else { return nil }
          return Planner(moment.definition).plan(front: front, back: back, foreground: moment.foreground)
        }
      case .clip(let clip):
        return try await carryOut(clip.definition, [.clip: clip.clip], of: work) { facts in
          facts[.clip].map { Planner(clip.definition).plan(clip: $0) }
        }
      case .photos(let photos): return try await carryOut(photos, of: work)
      }
    } catch {
      if let stop = control.stopReason { return .stopped(stop) }
      return AttemptEnding(error, isIsolated: isIsolated)
    }
  }

  private func carryOut(
    _ definition: Definition, _ sources: [InputName: SHA256Digest], of work: Work,
    plan: ([InputName: ClipFacts]) -> Plan?
  ) async throws -> AttemptEnding {
    let clock = ContinuousClock()
    let end = clock.now + work.deadline(definition.deadlineSeconds)
    // The sources stay open here while the media process works on its copies of the descriptors.
    let files = try sources.mapValues { OpenFile(try work.open($0, in: blobs)) }
    let inputs = files.mapValues { $0.descriptor.number }
    defer { withExtendedLifetime(files) {} }

    control.advance(.probe, 0.01)
    let probed = try await slot.probe(
      inputs, limits: definition.limits, deadline: clock.now.duration(to: end), cancellation: control.cancellation)
    guard probed.reasons.isEmpty, let plan = plan(probed.facts) else { return .rejected(probed.verdict) }
    let recipe = try Recipe(definition: work.definitionHash, plan: plan).hash
    if work.hasOutputs(of: recipe, in: blobs) { return .unchanged }

    let outputs = try Outputs(plan.outputs, in: blobs)
    log.debug("composing", ["mode": mode.rawValue])
    let report = try await slot.run(
      plan, mode: mode, inputs: inputs, outputs: outputs.descriptors, deadline: clock.now.duration(to: end),
      cancellation: control.cancellation
    ) { [control] fraction in
      // The last twentieth is for hashing and publishing.
      control.advance(.compose, 0.02 + fraction * 0.93)
    }
    guard report.verdict.verdict == .accepted else { return .rejected(report.verdict) }

    control.advance(.publish, 0.96)
    let assets = try outputs.seal(report.outputs)
    if let stop = control.stopReason { return .stopped(stop) }
    return .accepted(report.verdict, outputs: assets, recipe: recipe)
  }

  private func carryOut(_ photos: Work.Photos, of work: Work) async throws -> AttemptEnding {
    let plan = photos.definition.plan
    let recipe = try Recipe(definition: work.definitionHash, plan: plan).hash
    if work.hasOutputs(of: recipe, in: blobs) { return .unchanged }
    let clock = ContinuousClock()
    let end = clock.now + work.deadline(photos.definition.deadlineSeconds)
    var verdict = Verdict(reasons: [], inputs: [:], decisions: [], photos: [])
    var assets: [NewAsset] = []
    for (place, hash) in photos.photos.enumerated() {
      control.advance(.photo, Double(place) / Double(photos.photos.count))
      let photo = OpenFile(try work.open(hash, in: blobs))
      defer { withExtendedLifetime(photo) {} }
      let outputs = try Outputs(plan.outputs, in: blobs)
      let report = try await slot.photo(
        plan, photo: photo.descriptor.number, outputs: outputs.descriptors, deadline: clock.now.duration(to: end),
        cancellation: control.cancellation)
      if let facts = report.facts { verdict.photos?.append(facts) }
      verdict.decisions += report.decisions
      if var reason = report.reason {
        reason.photo = place
        verdict.reasons.append(reason)
      }
      guard verdict.reasons.isEmpty else { continue }
      assets += try outputs.seal(report.outputs) { facts, content in
        NewAsset(facts, of: report, place: place, content: content)
      }
    }
    guard verdict.reasons.isEmpty else {
      verdict.verdict = .rejected
      return .rejected(verdict)
    }
    if let stop = control.stopReason { return .stopped(stop) }
    return .accepted(verdict, outputs: assets, recipe: recipe)
  }
}
