import Definitions
import MediaProcess
import Model
import Platform

/// Makes the outputs of a definition from the first second of the samples: what no range of a value shows is found by the encoders.
struct DefinitionTrial {
  /// Where the samples are: in a checkout, and in the package.
  private static let folders = ["samples", "/usr/share/doc/take5/examples"]

  private let media: MediaProcess
  private let cancellation = CancellationFlag()

  /// Returns what has been made; nothing of it is kept. Status 66 without samples.
  ///
  /// - Throws: `UnfitDefinition` if the outputs cannot be made.
  static func outputs(of definition: MediaDefinition, _ arguments: Arguments) async throws -> [OutputFacts] {
    let configuration = try MediaProcess.Configuration(arguments)
    let trial = DefinitionTrial(media: try MediaProcess(name: "media", configuration: configuration))
    let outcome: Result<[OutputFacts], any Error>
    do {
      try await Sandbox.check(trial.media, configuration.sandbox, loading: .clips)
      outcome = .success(try await trial.outputs(of: definition))
    } catch { outcome = .failure(error) }
    await trial.media.stop()
    do { return try outcome.get() } catch let failure as MediaFailure where failure.kind != .cancelled {
      throw UnfitDefinition(description: "nothing can be made with it: \(failure.detail)")
    }
  }

  private func outputs(of definition: MediaDefinition) async throws -> [OutputFacts] {
    try await withTaskCancellationHandler {
      switch definition {
      case .clips(let clips): try await outputs(of: clips.ofFirstSecond())
      case .photos(let photos): try await outputs(of: photos)
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  private func outputs(of definition: Definition) async throws -> [OutputFacts] {
    var clips: [InputName: OpenFile] = [:]
    if definition.isOfPair {
      for name in [InputName.front, .back] { clips[name] = try Self.sample(name.rawValue) }
    } else {
      clips[.clip] = try Self.sample(InputName.front.rawValue)
    }
    let files = try Self.files(for: definition.madeRoles)
    let report = try await media.process(
      clips, limits: definition.limits, deadline: .seconds(definition.deadlineSeconds), cancellation: cancellation,
      plan: { facts in
        if let front = facts[.front], let back = facts[.back] {
          return (Planner(definition).plan(front: front, back: back, foreground: .front), files)
        }
        return facts[.clip].map { (Planner(definition).plan(clip: $0), files) }
      })
    try Self.check(report.verdict.reasons.first)
    return report.outputs
  }

  private func outputs(of definition: PhotoDefinition) async throws -> [OutputFacts] {
    var plan = definition.plan
    // A photo of a phone: the trial is of the variants, not of the limits.
    plan.limits = try Definitions.photo("photo-post")?.limits ?? plan.limits
    let report = try await media.photo(
      plan, photo: photo(), outputs: Self.files(for: plan.outputs), deadline: .seconds(definition.deadlineSeconds),
      cancellation: cancellation)
    try Self.check(report.reason)
    return report.outputs
  }

  /// A frame of a sample as a photo.
  private func photo() async throws -> OpenFile {
    let definition = try Definitions.take5Post()
    let file = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    let report = try await media.process(
      [.clip: Self.sample("front")], limits: definition.limits, deadline: .seconds(definition.deadlineSeconds),
      cancellation: cancellation,
      plan: { facts in
        facts[.clip].map {
          (Planner(definition).plan(stillOf: $0, at: 0.5, longEdge: nil, quality: 90), [.image: file])
        }
      })
    try Self.check(report.verdict.reasons.first)
    return file
  }

  private static func check(_ reason: Reason?) throws(UnfitDefinition) {
    guard let reason else { return }
    throw UnfitDefinition(description: "the samples are refused: \(reason.code.rawValue): \(reason.detail)")
  }

  private static func files(for roles: [Role]) throws(SystemError) -> [Role: OpenFile] {
    var files: [Role: OpenFile] = [:]
    for role in roles { files[role] = OpenFile(try Descriptor(unnamedIn: "/tmp")) }
    return files
  }

  private static func sample(_ name: String) throws(CommandFailure) -> OpenFile {
    let paths = folders.map { "\($0)/\(name).mp4" }
    guard let path = paths.first(where: { FileIdentity(ofPath: $0) != nil }) else {
      throw CommandFailure(
        .inputMissing, "no samples found: neither \(paths.joined(separator: " nor ")) exists",
        remedy: "run the command where samples/front.mp4 and samples/back.mp4 are, such as in a checkout")
    }
    do throws(SystemError) { return OpenFile(try Descriptor(reading: path)) } catch {
      throw CommandFailure(
        .inputMissing, "\(path) cannot be read: \(error.reason)", remedy: "check the permissions of the file")
    }
  }
}

extension Definition {
  /// The same, of the first second of clips that the built-in definition accepts: the trial is of the outputs, not of the limits.
  fileprivate func ofFirstSecond() throws -> Definition {
    var copy = self
    copy.limits = try Definitions.take5Post().limits
    copy.limits.seconds = copy.limits.seconds.map { SecondsRange(shortest: 0.5, longest: $0.longest) }
    copy.limits.trimSeconds = 1
    copy.moment = Moment(align: false)
    for role in copy.outputs.roles {
      switch copy.outputs[role] {
      case .composed(var output):
        output.seconds = SecondsRange(shortest: 0.1, longest: 1.034)
        copy.outputs[role] = .composed(output)
      case .still(var output):
        output.at = min(output.at, 0.5)
        copy.outputs[role] = .still(output)
      case .preview(var output):
        (output.at, output.seconds) = (min(output.at, 0.2), min(output.seconds, 0.5))
        copy.outputs[role] = .preview(output)
      case .rendition, .clip, nil: break
      }
    }
    return copy
  }
}
