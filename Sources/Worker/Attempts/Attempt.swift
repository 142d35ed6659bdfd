import Blobs
import Crypto
import MediaProcess
import Model
import Platform
import Queue
import Store
import Telemetry

/// One attempt at a moment, a clip or photos: runs the definition in a media process, and seals the outputs.
struct Attempt: Sendable {
  let control: HeldJob
  let media: any MediaRunner
  let mode: ExecutionMode
  let blobs: any BlobStore
  let log: Logger
  /// The sources that the attempt has read, as long as it runs.
  private let opened = OpenedSources()

  /// Runs the attempt, and returns its ending.
  func run(_ work: Work) async -> AttemptEnding {
    switch work.reprocessing?.state {
    case .paused: return .superseded(.requeued)
    case .cancelled: return .superseded(.cancelled)
    case .running, .completed, nil: break
    }
    guard work.refusals.isEmpty else {
      return .rejected(work, Verdict(reasons: work.refusals, inputs: [:], decisions: []))
    }
    let ending = await perform(work)
    guard work.look == nil else { return ending }
    switch ending {
    case .rejected, .broken, .failed:
      // The submitter is not responsible for a source file that was damaged in the storage.
      do {
        try work.checkSources(in: blobs)
        if let changed = try opened.changed() {
          return .unable(Outage("the file of \(changed.hex) changed while it was read"))
        }
      } catch {
        return AttemptEnding(error)
      }
    default: break
    }
    return ending
  }

  /// Opens a source, which was compared with its hash, for the time of the attempt.
  private func open(_ source: SHA256Digest, of work: Work) throws -> OpenFile {
    let file = OpenFile(try work.open(source, in: blobs))
    opened.add(source, file)
    return file
  }

  private func perform(_ work: Work) async -> AttemptEnding {
    do {
      switch work.content {
      case .moment(let moment):
        return try await perform(moment.definition, [.front: moment.front, .back: moment.back], of: work) { facts in
          guard let front = facts[.front], let back = facts[.back] else { return nil }
          return Planner(moment.definition).plan(front: front, back: back, foreground: moment.foreground)
        }
      case .clip(let clip):
        return try await perform(clip.definition, [.clip: clip.clip], of: work) { facts in
          facts[.clip].map { Planner(clip.definition).plan(clip: $0) }
        }
      case .photos(let photos): return try await perform(photos, of: work)
      }
    } catch {
      if let stop = control.stopReason { return .stopped(stop) }
      return AttemptEnding(error, of: work)
    }
  }

  private func perform(
    _ definition: Definition, _ sources: [InputName: SHA256Digest], of work: Work,
    plan: @Sendable ([InputName: ClipFacts]) -> Plan?
  ) async throws -> AttemptEnding {
    let clock = ContinuousClock()
    let end = clock.now + work.deadline(definition.deadlineSeconds)
    control.begin(.fetch)
    var files: [InputName: OpenFile] = [:]
    try await sources.forEach(concurrently: sources.count) { source in
      try await onThread("source") { try open(source.value, of: work) }
    } receive: { source, file in
      files[source.key] = file
    }
    control.advance(.probe, 0.01)
    let libraries = try await media.libraryVersions()
    let planned = Locked<(recipe: SHA256Digest, outputs: Outputs?)?>(nil)
    let report = try await media.process(
      files, limits: definition.limits, mode: mode, deadline: clock.now.duration(to: end),
      cancellation: control.cancellation
    ) { facts in
      guard let plan = plan(facts), let plan = work.look == nil ? plan : plan.look else { return nil }
      let recipe = try Recipe(definition: work.definitionHash, plan: plan, libraries: libraries).hash
      let outputs = try work.hasOutputs(of: recipe, in: blobs) ? nil : Outputs(plan.outputs, in: blobs)
      planned.withLock { $0 = (recipe, outputs) }
      guard let outputs else { return nil }
      log.debug(work.look == nil ? "composing" : "making the first look", ["mode": mode.rawValue])
      return (plan, outputs.files)
    } progress: { [control] fraction in
      // The last 5 % are for hashing and publishing.
      control.advance(.compose, 0.02 + fraction * 0.93)
    }
    guard let planned = planned.withLock(\.self), report.verdict.verdict == .accepted else {
      return .rejected(work, report.verdict)
    }
    guard let outputs = planned.outputs else { return .unchanged(work) }

    control.advance(.publish, 0.96)
    let assets = try await outputs.seal(report.outputs)
    if let stop = control.stopReason { return .stopped(stop) }
    return .accepted(work, report.verdict, outputs: assets, recipe: planned.recipe)
  }

  private func perform(_ photos: Work.Photos, of work: Work) async throws -> AttemptEnding {
    let whole = photos.definition.plan
    guard let plan = work.look == nil ? whole : whole.look else { return .unchanged(work) }
    let libraries = try await media.libraryVersions()
    let recipe = try Recipe(definition: work.definitionHash, plan: plan, libraries: libraries).hash
    if try work.hasOutputs(of: recipe, in: blobs) { return .unchanged(work) }
    let clock = ContinuousClock()
    let end = clock.now + work.deadline(photos.definition.deadlineSeconds)
    var verdict = Verdict(reasons: [], inputs: [:], decisions: [], photos: [])
    var assets: [NewAsset] = []
    var times: [Duration] = []
    for (index, hash) in photos.photos.enumerated() {
      control.begin(.fetch)
      let photo = try open(hash, of: work)
      control.advance(.photo, Double(index) / Double(photos.photos.count))
      let outputs = try Outputs(plan.outputs, in: blobs)
      let report: PhotoReport
      let start = clock.now
      do throws(MediaFailure) {
        report = try await media.photo(
          plan, photo: photo, outputs: outputs.files, deadline: clock.now.duration(to: end),
          cancellation: control.cancellation)
      } catch {
        throw PhotoFailure(error, times: times + [start.duration(to: clock.now)])
      }
      times.append(start.duration(to: clock.now))
      if let facts = report.facts { verdict.photos?.append(facts) }
      verdict.decisions += report.decisions
      if var reason = report.reason {
        reason.photo = index
        verdict.reasons.append(reason)
      }
      guard verdict.reasons.isEmpty else { continue }
      assets += try await outputs.seal(report.outputs) { facts, content in
        NewAsset(facts, of: report, place: index, content: content)
      }
    }
    guard verdict.reasons.isEmpty else {
      verdict.verdict = .rejected
      return .rejected(work, verdict)
    }
    if let stop = control.stopReason { return .stopped(stop) }
    return .accepted(work, verdict, outputs: assets, recipe: recipe)
  }
}

/// The stage of an attempt.
enum AttemptStage: String, Sendable {
  /// Opens the sources, which an object store sends first.
  case fetch
  case probe
  /// Validates, composes and makes the stills and previews, in one pass over the clips.
  case compose
  case photo
  /// Hashes the outputs and stores them.
  case publish
  /// Writes the ending to the database.
  case commit

  /// The stages in which media are decoded, which can cause the loss of a worker.
  static let atRisk: Set<String> = [probe.rawValue, compose.rawValue, photo.rawValue]
}

extension HeldJob {
  func begin(_ stage: AttemptStage) { begin(stage: stage.rawValue) }

  fileprivate func advance(_ stage: AttemptStage, _ fraction: Double) {
    advance(to: JobProgress(fraction: fraction, stage: stage.rawValue))
  }
}

/// The sources that an attempt has opened.
private final class OpenedSources: Sendable {
  private let sources = Locked<[(hash: SHA256Digest, file: OpenFile)]>([])

  func add(_ hash: SHA256Digest, _ file: OpenFile) { sources.withLock { $0.append((hash, file)) } }

  /// A source whose bytes are others than when it was opened. The next attempt opens what is stored then.
  func changed() throws(SystemError) -> SHA256Digest? {
    for source in sources.withLock(\.self) where try SHA256.digest(of: source.file.descriptor) != source.hash {
      return source.hash
    }
    return nil
  }
}
