import Definitions
import Glibc
import Model
import Platform

extension Verb {
  static let photo = Verb(
    "photo", abstract: "Make the variants of photos: upright, sRGB, without a trace of place or device.",
    operands: ["FILE…"],
    options: [
      Option("--output", "DIR", short: "-o", help: "the folder that the variants go to; it is made if it is missing"),
      Option(
        "--definition", "NAME|FILE", default: "photo-post",
        help: "one of \(Definitions.photoNames.joined(separator: ", ")), or a file"),
      Option("--force", help: "replace files that are there already"), .mediaMemory, .json,
    ],
    example: "take5 photo holiday/*.HEIC -o holiday-small"
  ) { arguments in
    guard let folder = arguments.value("--output") else {
      throw CommandFailure(.usage, "nowhere to write to", remedy: "name a folder with -o DIR")
    }
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
      throw CommandFailure(.io, "\(SystemError(call: "mkdir", subject: folder))")
    }
    let work = try PhotoWork(arguments)
    let bar = ProgressBar("photos")
    var status = ExitStatus.done
    for (index, path) in arguments.operands.enumerated() {
      bar.show(Double(index) / Double(arguments.operands.count), stage: "\(index + 1) of \(arguments.operands.count)")
      let answer = await work.answer(path, folder: folder, replacing: arguments.has("--force"))
      bar.clear()
      if arguments.has("--json") {
        Console.print(try JSON.text(answer))
      } else if answer.verdict == .accepted {
        Console.print(answer.text)
      } else {
        Console.note(answer.text)
      }
      if let worse = answer.status, status == .done { status = worse }
    }
    await work.stop()
    return status
  }
}
