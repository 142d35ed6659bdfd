import Glibc
import Model
import Platform

extension Subcommand {
  static let compose = Subcommand(
    "compose", abstract: "Make one video of two clips.", operands: ["FRONT", "BACK"],
    options: [
      Option("--output", "OUT.mp4", short: "-o", help: "where the composed video goes; - is standard output"),
      Option("--outputs", "DIR", help: "write all outputs of the definition into this folder"), .foreground,
      Option("--both", help: "compose the other arrangement too, foreground and background exchanged"), .latency,
      .portable, .force, .definition, .mediaMemory, .json,
    ],
    example: "take5 compose samples/front.mp4 samples/back.mp4 -o moment.mp4 --outputs moment"
  ) { arguments in
    let destination = arguments.value("--output")
    let folder = arguments.value("--outputs")
    guard destination != nil || folder != nil else {
      throw CommandFailure(
        .usage, "nowhere to write to", remedy: "name a file with -o OUT.mp4 or a folder with --outputs DIR")
    }
    let foreground = try arguments.choice("--foreground", of: Camera.self) ?? .front
    var work = try LocalWork(arguments)
    if arguments.has("--both") { work.composeBoth() }
    let front = try InputFile(.front, path: arguments.operands[0])
    let back = try InputFile(.back, path: arguments.operands[1])

    var paths: [Role: String] = [:]
    let made = try folder.map { path throws(CommandFailure) in try OutputFolder(path) }
    if let folder { for role in work.definition.outputs.roles { paths[role] = "\(folder)/\(role.fileName)" } }
    if let destination { paths[.composed] = destination }
    var outputs = try OutputFiles(
      paths, replacing: arguments.has(Option.force.name), sparing: [front.identity, back.identity])
    let bar = ProgressBar("composing")
    let report = try await work.moment(
      front: front, back: back, foreground: foreground, outputs: outputs.numbers
    ) { bar.show($0) }
    bar.clear()
    await work.stop()

    paths = report.verdict.verdict == .accepted ? try outputs.commit() : [:]
    if arguments.has("--json") {
      let answer = ComposeAnswer(verdict: report.verdict, outputs: report.outputs, paths: paths)
      try arguments.tell(try JSON.text(answer), beside: destination)
    } else if report.verdict.verdict == .rejected {
      Console.note(VerdictText.text(of: report.verdict, explains: false))
    } else {
      for output in report.outputs {
        let path = paths[output.role] ?? ""
        let line = "\(output.role.rawValue)  \(path)  \(output.width)x\(output.height)  \(output.bytes) bytes"
        try arguments.tell(line, beside: destination)
      }
    }
    return report.verdict.verdict == .accepted ? .done : .rejected
  }
}
