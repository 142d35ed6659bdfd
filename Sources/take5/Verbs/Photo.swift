import Definitions
import Model
import Platform

extension Subcommand {
  static let photo = Subcommand(
    "photo", abstract: "Make the variants of photos: upright, sRGB, without a trace of place or device.",
    operands: ["FILE…"],
    options: [
      Option("--output", "DIR", short: "-o", help: "the folder that the variants go to; it is made if it is missing"),
      Option(
        "--definition", "NAME|FILE", default: "photo-post",
        help: "one of \(Definitions.photoNames.joined(separator: ", ")), or a file"),
      .force, .mediaMemory, .json,
    ],
    example: "take5 photo holiday/*.HEIC -o holiday-small"
  ) { arguments in
    guard let folder = arguments.value("--output") else {
      throw CommandFailure(.usage, "nowhere to write to", remedy: "name a folder with -o DIR")
    }
    let made = try OutputFolder(folder)
    let inputs = Set(arguments.operands.compactMap { FileIdentity(ofPath: $0) })
    let work = try PhotoWork(arguments)
    let bar = ProgressBar("photos")
    var status = ExitStatus.done
    for (index, path) in arguments.operands.enumerated() {
      bar.show(Double(index) / Double(arguments.operands.count), stage: "\(index + 1) of \(arguments.operands.count)")
      let answer = try await work.answer(
        path, folder: made.path, replacing: arguments.has(Option.force.name), sparing: inputs)
      bar.clear()
      if arguments.has("--json") {
        try Console.print(try JSON.text(answer))
      } else if answer.verdict == .accepted {
        try Console.print(answer.text)
      } else {
        Console.note(answer.text)
      }
      if let worse = answer.status, status == .done { status = worse }
    }
    await work.stop()
    return status
  }
}
