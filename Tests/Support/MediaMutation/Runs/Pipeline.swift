import Blobs
import Definitions
import ISOBaseMedia
package import MediaProcess
package import Model
import Platform

/// The path of production for one mutation: a fork server, a confined child for each job, the checks of its replies,
/// and a folder of blobs.
package struct Pipeline: Sendable {
  /// What is made of a submission.
  package struct Settings: Sendable {
    package var moment: Definition
    package var clip: Definition
    package var photos: [PhotoDefinition]
    /// The longest time of one mutation.
    package var deadline: Duration

    /// The built-in definitions.
    package static func shipped() throws -> Settings {
      let photos = try Definitions.photoNames.compactMap { try Definitions.photo($0) }
      return Settings(
        moment: try Definitions.take5Post(), clip: try Definitions.markerVideo(), photos: photos,
        deadline: .seconds(120))
    }

    /// The built-in definitions with a canvas that is quick to encode, for clips of any duration up to some seconds.
    package static func small(width: Int) throws -> Settings {
      var settings = try shipped()
      settings.deadline = .seconds(60)
      settings.moment.canvas.width = width
      settings.moment.canvas.height = width * 16 / 9 / 2 * 2
      settings.moment.limits.differenceSeconds = 20
      // Most clips last 0.6 seconds.
      settings.clip.limits.trimSeconds = 0.3
      settings.moment.outputs[.composed]?.composed?.seconds = SecondsRange(shortest: 0.1, longest: 3)
      for path in [\Settings.moment, \Settings.clip] {
        settings[keyPath: path].limits.seconds = SecondsRange(shortest: 0.1, longest: 20)
        settings[keyPath: path].limits.containers.append(.webM)
        settings[keyPath: path].limits.videoCodecs += ["vp8", "vp9", "av1"]
        for role in settings[keyPath: path].outputs.roles {
          settings[keyPath: path].outputs[role]?.clip?.longEdge = 320
          settings[keyPath: path].outputs[role]?.still?.longEdge = 160
          settings[keyPath: path].outputs[role]?.preview?.longEdge = 160
          settings[keyPath: path].outputs[role]?.still?.at = 0.2
          settings[keyPath: path].outputs[role]?.preview?.at = 0.1
        }
      }
      for index in settings.photos.indices {
        settings.photos[index].limits.pixels = 1 << 22
        settings.photos[index].limits.headerPixels = 1 << 24
        settings.photos[index].limits.progressivePixels = 1 << 21
        settings.photos[index].limits.formats.append(.gif)
        settings.photos[index].preview = PhotoPreview(longEdge: 32, quality: 60)
      }
      return settings
    }
  }

  package let media: MediaProcess
  private let settings: Settings
  private let blobs: FolderBlobStore
  private let cancellation = CancellationFlag()

  /// - Parameter folder: of the blobs.
  package init(_ settings: Settings, folder: String) throws {
    self.settings = settings
    media = try MediaProcess(name: "mutations", configuration: MediaProcess.Configuration())
    blobs = try FolderBlobStore(folder: folder)
  }

  /// Runs one mutation. A child that another process interrupted gets a second attempt, as in production.
  package func run(_ job: MutatedJob) async throws -> Outcome {
    let outcome = try await attempt(job)
    if case .failed(let failure) = outcome.ending, failure.kind == .interrupted { return try await attempt(job) }
    return outcome
  }

  private func attempt(_ job: MutatedJob) async throws -> Outcome {
    switch job {
    case .moment(let front, let back, let isFrontForeground):
      if front == back { return Outcome(depth: .submitted, ending: .refused(.sameFileTwice)) }
      let clips = [InputName.front: front, .back: back]
      return try await run(clips, settings.moment) { facts in
        guard let front = facts[.front], let back = facts[.back] else { return nil }
        return Planner(settings.moment).plan(
          front: front, back: back, foreground: isFrontForeground ? .front : .back)
      }.compared(with: arrivals(of: clips, settings.moment))
    case .clip(let bytes):
      return try await run([.clip: bytes], settings.clip) { facts in
        facts[.clip].map { Planner(settings.clip).plan(clip: $0) }
      }.compared(with: arrivals(of: [.clip: bytes], settings.clip))
    case .photo(let bytes, let definition):
      let plan = settings.photos[definition].plan
      return try await run(bytes, plan)
    }
  }

  private func arrivals(of clips: [InputName: [UInt8]], _ definition: Definition) -> [InputName: Arrival] {
    Dictionary(
      uniqueKeysWithValues: clips.map { ($0, Arrival($1, AcceptedMedia(clip: definition.limits, as: $0))) })
  }

  private func file(_ bytes: [UInt8]) throws -> OpenFile {
    let file = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    try file.descriptor.write(bytes, at: 0)
    return file
  }

  private func run(
    _ clips: [InputName: [UInt8]], _ definition: Definition, plan: @Sendable ([InputName: ClipFacts]) -> Plan?
  ) async throws -> Outcome {
    // What the API judges before it stores a submission.
    for (name, bytes) in clips.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      if let refusal = Arrival(bytes, AcceptedMedia(clip: definition.limits, as: name)).refusalAtEnd {
        return Outcome(depth: .submitted, ending: .refused(refusal.reason.code))
      }
    }
    let inputs = try clips.mapValues(file)
    let staged = Locked<StagedOutputs?>(nil)
    do {
      let report = try await media.process(
        inputs, limits: definition.limits, deadline: settings.deadline, cancellation: cancellation
      ) { facts in
        guard let plan = plan(facts) else { return nil }
        let outputs = try StagedOutputs(plan.outputs, in: blobs)
        staged.withLock { $0 = outputs }
        return (plan, outputs.files)
      }
      let outputs = staged.withLock(\.self)
      if let reason = report.verdict.reasons.first {
        let depth: Outcome.Depth = outputs != nil ? .decoded : reason.code == .noVideoStream ? .walked : .probed
        return Outcome(depth: depth, ending: .refused(reason.code))
      }
      guard let outputs else { return Outcome(depth: .probed, ending: .violated("facts without a plan")) }
      return try outputs.publish(report.outputs)
    } catch let failure as MediaFailure {
      return Outcome(depth: staged.withLock { $0 == nil } ? .walked : .decoded, ending: .failed(failure))
    }
  }

  private func run(_ photo: [UInt8], _ plan: PhotoPlan) async throws -> Outcome {
    let file = try file(photo)
    do throws(MediaFailure) {
      let outputs = try StagedOutputs(plan.outputs, in: blobs)
      let report = try await media.photo(
        plan, photo: file, outputs: outputs.files, deadline: settings.deadline,
        cancellation: cancellation)
      if let reason = report.reason { return Outcome(depth: depth(of: reason), ending: .refused(reason.code)) }
      return try outputs.publish(report.outputs)
    } catch {
      return Outcome(depth: .walked, ending: .failed(error))
    }
  }

  /// The stage of a photo by its reason: an image library that reports damaged data has decoded some.
  private func depth(of reason: Reason) -> Outcome.Depth {
    switch reason.code {
    case .emptyFile, .unsupportedContainer: .submitted
    case .corruptImage where reason.detail.contains("data are damaged"): .decoded
    case .tooLarge, .unsupportedCodec: .probed
    default: .walked
    }
  }
}
