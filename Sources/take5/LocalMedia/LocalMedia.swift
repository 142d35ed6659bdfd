import Crypto
import Definitions
import Glibc
import ISOBaseMedia
import MediaProcess
import Model
import Platform
import Worker

/// Processes clips in local files without a service, with the same media process and the same planner.
struct LocalMedia {
  private(set) var definition: Definition
  private let media: MediaProcess
  private let cancellation = CancellationFlag()
  private let deadline: Duration
  private let mode: ExecutionMode
  /// The output path, for error messages.
  private let destination: String?

  init(_ arguments: Arguments) async throws {
    definition = try NamedDefinition.read(arguments)
    destination = arguments.value("--output") ?? arguments.value("--outputs")
    mode = arguments.has(Option.latency.name) ? .latency : .throughput
    let configuration = try MediaProcess.Configuration(arguments)
    media = try MediaProcess(name: "media", configuration: configuration)
    deadline = .seconds(definition.deadlineSeconds)
    try await Sandbox.check(media, configuration.sandbox, loading: .clips)
  }

  /// Adds the composition with foreground and background exchanged, if the definition does not have it.
  mutating func addSwappedComposition() {
    definition.outputs[.composedSwapped] = definition.outputs[.composedSwapped] ?? definition.outputs[.composed]
  }

  /// Probes the clips of a moment, plans its outputs and makes them.
  ///
  /// - Parameters:
  ///   - outputs: a file for each requested output.
  ///   - progress: receives the progress as a fraction from 0 to 1.
  /// - Returns: the report, which rejects the clips or describes the outputs.
  func moment(
    front: InputFile, back: InputFile, foreground: Camera, outputs: [Role: OpenFile],
    progress: @escaping @Sendable (Double) -> Void
  ) async throws(CommandFailure) -> RunReport {
    if try sameContent(front, back) {
      return RunReport(verdict: Verdict(reasons: [.sameFileTwice], inputs: [:], decisions: []), outputs: [])
    }
    return try await run([front, back], outputs: outputs, progress: progress) { [definition] facts in
      guard let front = facts[.front], let back = facts[.back] else { return nil }
      return Planner(definition).plan(front: front, back: back, foreground: foreground, roles: Set(outputs.keys))
    }
  }

  /// Extracts one frame of a clip as an image.
  func still(
    _ clip: InputFile, at seconds: Double, longEdge: Int?, quality: Int, output: OpenFile
  ) async throws(CommandFailure) -> RunReport {
    return try await run([clip], outputs: [.image: output], progress: { _ in }) { [definition] facts in
      guard let found = facts[.clip] else { return nil }
      if let duration = found.duration, seconds >= duration {
        throw CommandFailure(
          .usage, "\(clip.path) has no frame at \(seconds) s: its duration is \(VerdictText.rounded(duration)) s",
          remedy: "use a time within the clip for --at")
      }
      return Planner(definition).plan(stillOf: found, at: seconds, longEdge: longEdge, quality: quality)
    }
  }

  /// Decodes all of a clip, of any duration, and reports its facts.
  func inspect(_ path: String) async throws(CommandFailure) -> RunReport {
    let clip = try InputFile(.clip, path: path)
    return try await run([clip], outputs: [:], progress: { _ in }) { [definition] facts in
      facts[.clip].map { Planner(definition).plan(inspecting: $0) }
    }
  }

  /// Reads the first bytes of a file, which identify its format.
  func signature(of path: String) throws(CommandFailure) -> [UInt8] {
    try InputFile(.clip, path: path).prefix(FileSignature.length)
  }

  /// Decodes a photo and reports its facts.
  func inspectPhoto(_ path: String) async throws -> PhotoReport {
    let photo = try InputFile(.photo, path: path)
    guard let definition = try Definitions.photo(Definitions.photoNames[0]) else {
      throw CommandFailure(.internal, "no definition of photos")
    }
    do {
      return try await withTaskCancellationHandler {
        try await media.photo(
          PhotoPlan(limits: definition.limits, variants: [:]), photo: photo.file, outputs: [:],
          deadline: .seconds(definition.deadlineSeconds), cancellation: cancellation)
      } onCancel: {
        cancellation.cancel()
      }
    } catch let failure as MediaFailure {
      guard let reason = failure.reason(input: .photo) else { throw CommandFailure(failure) }
      return PhotoReport(reason: reason)
    }
  }

  /// Ends the media process.
  func stop() async { await media.stop() }

  private func run(
    _ clips: [InputFile], outputs: [Role: OpenFile], progress: @escaping @Sendable (Double) -> Void,
    plan: @Sendable ([InputName: ClipFacts]) throws -> Plan?
  ) async throws(CommandFailure) -> RunReport {
    do {
      return try await withTaskCancellationHandler {
        try await media.process(
          Dictionary(uniqueKeysWithValues: clips.map { ($0.name, $0.file) }), limits: definition.limits, mode: mode,
          deadline: deadline, cancellation: cancellation, plan: { facts in try plan(facts).map { ($0, outputs) } },
          progress: progress)
      } onCancel: {
        cancellation.cancel()
      }
    } catch let failure as MediaFailure {
      return try report(of: failure)
    } catch {
      throw CommandFailure(error)
    }
  }

  // If the media may have crashed the media process, they are rejected with the code that a worker would use.
  private func report(of failure: MediaFailure) throws(CommandFailure) -> RunReport {
    if let reason = failure.reason(input: nil) {
      return RunReport(verdict: Verdict(reasons: [reason], inputs: [:], decisions: []), outputs: [])
    }
    throw CommandFailure(failure, writing: destination)
  }

  private func sameContent(_ front: InputFile, _ back: InputFile) throws(CommandFailure) -> Bool {
    do {
      guard try front.file.descriptor.size() == back.file.descriptor.size() else { return false }
      return try SHA256.digest(of: front.file.descriptor) == SHA256.digest(of: back.file.descriptor)
    } catch {
      throw CommandFailure(
        .inputMissing, "\(front.path) or \(back.path) cannot be read: \(error)",
        remedy: "check the device that holds the files")
    }
  }
}
