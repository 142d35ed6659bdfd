import ISOBaseMedia
import Model

extension Subcommand {
  static let inspect = Subcommand(
    "inspect", abstract: "Tell everything that is known of media files, each decoded once.", operands: ["FILE…"],
    options: [.definition, .mediaMemory, Option("--json", help: "one JSON object a file and line, for programs")],
    example: "take5 inspect samples/front.mp4 samples/back.mp4 --json"
  ) { arguments in
    let work = try LocalWork(arguments)
    var status = ExitStatus.done
    for path in arguments.operands {
      let answer = try await inspect(path, work)
      switch answer.verdict {
      case .accepted: break
      case .rejected: status = .rejected
      case .unreadable: if status == .done { status = .inputMissing }
      }
      try Console.print(arguments.has("--json") ? try JSON.text(answer) : answer.text)
    }
    await work.stop()
    return status
  }

  /// A file that cannot be opened is told in its place: the others are inspected all the same.
  private static func inspect(_ path: String, _ work: LocalWork) async throws -> InspectAnswer {
    do {
      let start = try work.start(path)
      switch FileSignature(start).kind {
      case .picture: return InspectAnswer(file: path, photo: try await work.inspectPhoto(path))
      case .video: return InspectAnswer(file: path, verdict: try await work.inspect(path).verdict)
      case .other: return InspectAnswer(file: path, photo: PhotoReport(reason: Reason(unsupportedMedium: start)))
      }
    } catch let failure as CommandFailure where failure.status == .inputMissing {
      return InspectAnswer(file: path, unreadable: failure.message ?? "")
    }
  }
}
