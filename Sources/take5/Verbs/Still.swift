import Model
import Platform

extension Subcommand {
  static let still = Subcommand(
    "still", abstract: "Take one picture out of a clip, upright.", operands: ["CLIP"],
    options: [
      Option("--at", "SECONDS", default: "0", help: "the time of the frame from the clip's start"),
      Option("--output", "OUT.jpg", short: "-o", help: "where the picture goes; - is standard output"),
      Option("--long-edge", "PIXELS", help: "make it no larger than this"),
      Option("--quality", "1-100", default: "85", help: "of the JPEG"), .force, .definition, .mediaMemory, .json,
    ],
    example: "take5 still samples/back.mp4 --at 1.0 -o still.jpg"
  ) { arguments in
    guard let destination = arguments.value("--output") else {
      throw CommandFailure(.usage, "nowhere to write to", remedy: "name a file with -o OUT.jpg")
    }
    let seconds = try arguments.seconds("--at") ?? 0
    let longEdge = try arguments.number("--long-edge", in: 16...16384)
    let quality = try arguments.number("--quality", in: 1...100) ?? 85
    let work = try LocalWork(arguments)
    let clip = try InputFile(.clip, path: arguments.operands[0])
    let output = try OutputFile(
      path: destination, replacing: arguments.has(Option.force.name), sparing: [clip.identity])
    let report = try await work.still(
      clip, at: seconds, longEdge: longEdge, quality: quality, output: output.descriptor.number)
    await work.stop()
    guard report.verdict.verdict == .accepted else {
      try VerdictText.print(report.verdict, json: arguments.has("--json"))
      return .rejected
    }
    try output.commit()
    if arguments.has("--json") {
      let paths: [Role: String] = [.image: destination]
      let answer = ComposeAnswer(verdict: report.verdict, outputs: report.outputs, paths: paths)
      try arguments.tell(try JSON.text(answer), beside: destination)
    } else if let facts = report.outputs.first {
      try arguments.tell("\(destination)  \(facts.width)x\(facts.height)  \(facts.bytes) bytes", beside: destination)
    }
    return .done
  }
}
