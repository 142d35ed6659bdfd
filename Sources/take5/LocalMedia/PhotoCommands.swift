import Definitions
import ISOBaseMedia
import Model
import Platform

extension Subcommand {
  static let photo = Subcommand(
    "photo", abstract: "Make the variants of photos: upright, in sRGB, without metadata of location or device.",
    operands: ["FILE…"],
    options: [
      Option("--output", "DIR", short: "-o", help: "folder for the variants; it is created if it does not exist"),
      Option(
        "--definition", "NAME|FILE", .file, default: "photo-post",
        help: "one of \(Definitions.photoNames.joined(separator: ", ")), or the path of a file"),
      .force, .mediaMemory, .sandbox, .json,
    ],
    example: "take5 photo holiday/*.HEIC -o holiday-small"
  ) { arguments in
    guard let folder = arguments.value("--output") else {
      throw CommandFailure(.usage, "no output given", remedy: "name a folder with -o DIR")
    }
    let outputFolder = try OutputFolder(folder)
    let inputs = Set(arguments.operands.compactMap { FileIdentity(ofPath: $0) })
    let photos = try await LocalPhotos(arguments)
    let bar = ProgressBar("photos")
    var status = ExitStatus.success
    for (index, path) in arguments.operands.enumerated() {
      bar.show(Double(index) / Double(arguments.operands.count), stage: "\(index + 1) of \(arguments.operands.count)")
      let result = try await photos.makeVariants(
        of: path, in: outputFolder.path, replacing: arguments.has(Option.force.name), protecting: inputs)
      bar.clear()
      if arguments.has("--json") {
        try Console.print(try JSON.text(result))
      } else if result.verdict == .accepted {
        try Console.print(result.text)
      } else {
        Console.note(result.text)
      }
      if let worse = result.status, status == .success { status = worse }
    }
    await photos.stop()
    return status
  }

  static let inspect = Subcommand(
    "inspect", abstract: "Show the facts of media files: streams, size, duration, colour, metadata.",
    operands: ["FILE…"],
    options: [.definition, .mediaMemory, .sandbox, Option("--json", help: "print one line of JSON for each file")],
    example: "take5 inspect samples/front.mp4 samples/back.mp4 --json"
  ) { arguments in
    let media = try await LocalMedia(arguments)
    var status = ExitStatus.success
    for path in arguments.operands {
      let result = try await inspect(path, media)
      switch result.verdict {
      case .accepted: break
      case .rejected: status = .rejected
      case .unreadable: if status == .success { status = .inputMissing }
      }
      try Console.print(arguments.has("--json") ? try JSON.text(result) : result.text)
    }
    await media.stop()
    return status
  }

  /// Inspects one file. A file that cannot be opened is a result too, so that the others are still inspected.
  private static func inspect(_ path: String, _ media: LocalMedia) async throws -> InspectResult {
    do {
      let start = try media.signature(of: path)
      switch FileSignature(start).kind {
      case .image: return InspectResult(file: path, photo: try await media.inspectPhoto(path))
      case .video: return InspectResult(file: path, verdict: try await media.inspect(path).verdict)
      case .other: return InspectResult(file: path, photo: PhotoReport(reason: Reason(unsupportedMedium: start)))
      }
    } catch let failure as CommandFailure where failure.status == .inputMissing {
      return InspectResult(file: path, unreadable: failure.message ?? "")
    }
  }
}
