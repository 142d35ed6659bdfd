import Crypto
import Definitions
import Glibc
import ISOBaseMedia
import MediaProcess
import Model
import Platform

/// Media work without a service: the same media process and the same plan, on files named on the command line.
struct LocalWork {
  private(set) var definition: Definition
  private let slot: MediaSlot
  private let cancellation = CancellationFlag()
  private let deadline: Duration
  private let mode: ExecutionMode
  /// Where the outputs go, for whoever is told that they could not be written.
  private let destination: String?

  init(_ arguments: Arguments) throws {
    definition = try Self.definition(arguments)
    destination = arguments.value("--output") ?? arguments.value("--outputs")
    mode = arguments.has(Option.latency.name) ? .latency : .throughput
    slot = try MediaSlot(name: "media", configuration: MediaProcess.Configuration(arguments))
    deadline = .seconds(definition.deadlineSeconds)
  }

  /// Composes the other arrangement too, by the same rules, where the definition does not say how.
  mutating func composeBoth() {
    definition.outputs.composedSwapped = definition.outputs.composedSwapped ?? definition.outputs.composed
  }

  /// The definition that `--definition` names, or the built-in one.
  static func definition(_ arguments: Arguments) throws -> Definition {
    guard let path = arguments.value("--definition") else { return try Definitions.take5Post() }
    let text = try InputText.read(path)
    do {
      return try JSON.decode(Definition.self, from: text)
    } catch {
      throw CommandFailure(
        .usage, "\(path) is no definition: \(JSON.reason(error))", remedy: "compare it with jobs/take5-post.json")
    }
  }

  /// Probes a moment's clips and carries out the plan for them.
  ///
  /// - Parameters:
  ///   - roles: the outputs that are wanted, each with the file it is written to.
  ///   - progress: told how far it has come.
  /// - Returns: the report, rejected or with the outputs written.
  func moment(
    front: borrowing InputFile, back: borrowing InputFile, foreground: Camera, outputs: [Role: Int32],
    progress: @escaping @Sendable (Double) -> Void
  ) async throws(CommandFailure) -> RunReport {
    if try sameContent(front, back) {
      return RunReport(verdict: Verdict(reasons: [.sameFileTwice], inputs: [:], decisions: []), outputs: [])
    }
    let inputs: [InputName: Int32] = [.front: front.descriptor.number, .back: back.descriptor.number]
    return try await run(inputs, outputs: outputs, progress: progress) { facts in
      guard let front = facts[.front], let back = facts[.back] else { return nil }
      return Planner(definition).plan(front: front, back: back, foreground: foreground, roles: Set(outputs.keys))
    }
  }

  /// Takes one picture out of one clip.
  func still(
    _ clip: borrowing InputFile, at seconds: Double, longEdge: Int?, quality: Int, output: Int32
  ) async throws(CommandFailure) -> RunReport {
    let path = clip.path
    return try await run([.clip: clip.descriptor.number], outputs: [.image: output], progress: { _ in }) { facts in
      guard let clip = facts[.clip] else { return nil }
      if let duration = clip.duration, seconds >= duration {
        throw CommandFailure(
          .usage, "\(path) has no frame at \(seconds) s: it lasts \(VerdictText.rounded(duration)) s",
          remedy: "name a time before its end with --at")
      }
      return Planner(definition).plan(stillOf: clip, at: seconds, longEdge: longEdge, quality: quality)
    }
  }

  /// Decodes a clip whole, whatever its length, and tells what was found.
  func inspect(_ path: String) async throws(CommandFailure) -> RunReport {
    let clip = try InputFile(.clip, path: path)
    return try await run([.clip: clip.descriptor.number], outputs: [:], progress: { _ in }) { facts in
      facts[.clip].map { Planner(definition).plan(inspecting: $0) }
    }
  }

  /// The first bytes of a file.
  func start(_ path: String) throws(CommandFailure) -> [UInt8] {
    try InputFile(.clip, path: path).start(FileSignature.length)
  }

  /// Decodes a photo and tells what was found.
  func inspectPhoto(_ path: String) async throws -> PhotoReport {
    let photo = try InputFile(.photo, path: path)
    guard let definition = try Definitions.photo(Definitions.photoNames[0]) else {
      throw CommandFailure(.internal, "there is no definition of photos")
    }
    do {
      return try await withTaskCancellationHandler {
        try await slot.photo(
          PhotoPlan(limits: definition.limits, variants: [:]), photo: photo.descriptor.number, outputs: [:],
          deadline: .seconds(definition.deadlineSeconds), cancellation: cancellation)
      } onCancel: {
        cancellation.cancel()
      }
    } catch let failure as MediaFailure {
      guard let code = failure.refusalCode else { throw CommandFailure(failure) }
      return PhotoReport(reason: Reason(code, input: .photo, detail: "\(failure.detail); take another photo"))
    }
  }

  /// Ends the media process.
  func stop() async { await slot.stop() }

  private func run(
    _ inputs: [InputName: Int32], outputs: [Role: Int32], progress: @escaping @Sendable (Double) -> Void,
    plan: ([InputName: ClipFacts]) throws -> Plan?
  ) async throws(CommandFailure) -> RunReport {
    do {
      return try await withTaskCancellationHandler {
        let probed = try await slot.probe(
          inputs, limits: definition.limits, deadline: deadline, cancellation: cancellation)
        guard probed.reasons.isEmpty, let plan = try plan(probed.facts) else {
          return RunReport(verdict: probed.verdict, outputs: [])
        }
        return try await slot.run(
          plan, mode: mode, inputs: inputs, outputs: outputs, deadline: deadline, cancellation: cancellation,
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

  // A process that the media may have broken is a refusal, with the code that a worker would come to.
  private func report(of failure: MediaFailure) throws(CommandFailure) -> RunReport {
    if let code = failure.refusalCode {
      let reason = Reason(code, input: nil, detail: "\(failure.detail); film the moment again")
      return RunReport(verdict: Verdict(reasons: [reason], inputs: [:], decisions: []), outputs: [])
    }
    throw CommandFailure(failure, writing: destination)
  }

  private func sameContent(
    _ front: borrowing InputFile, _ back: borrowing InputFile
  ) throws(CommandFailure) -> Bool {
    do {
      guard try front.descriptor.size() == back.descriptor.size() else { return false }
      return try SHA256.digest(of: front.descriptor) == SHA256.digest(of: back.descriptor)
    } catch {
      throw CommandFailure(
        .inputMissing, "\(front.path) or \(back.path) cannot be read: \(error)", remedy: "check the device they lie on")
    }
  }
}
