import Glibc
import Model
import Platform

extension Subcommand {
  static let compose = Subcommand(
    "compose", abstract: "Compose one video from two clips.", operands: ["FRONT", "BACK"],
    options: [
      Option("--output", "OUT.mp4", .file, short: "-o", help: "file for the composed video; - is standard output"),
      Option("--outputs", "DIR", help: "folder for all outputs of the definition"), .foreground,
      Option("--both", help: "also make the composition with foreground and background exchanged"),
      .latency, .portable, .force, .definition, .mediaMemory, .sandbox, .json,
    ],
    example: "take5 compose samples/front.mp4 samples/back.mp4 -o moment.mp4 --outputs moment"
  ) { arguments in
    let destination = arguments.value("--output")
    let folder = arguments.value("--outputs")
    guard destination != nil || folder != nil else {
      throw CommandFailure(
        .usage, "no output given", remedy: "name a file with -o OUT.mp4 or a folder with --outputs DIR")
    }
    if let destination { try OutputFile.check(destination, is: "MP4", endings: ["mp4", "m4v"]) }
    let foreground = try arguments.choice("--foreground", of: Camera.self) ?? .front
    var media = try await LocalMedia(arguments)
    if arguments.has("--both") { media.addSwappedComposition() }
    let front = try InputFile(.front, path: arguments.operands[0])
    let back = try InputFile(.back, path: arguments.operands[1])

    var paths: [Role: String] = [:]
    let outputFolder = try folder.map { path throws(CommandFailure) in try OutputFolder(path) }
    if let folder { for role in media.definition.outputs.roles { paths[role] = "\(folder)/\(role.fileName)" } }
    if let destination { paths[.composed] = destination }
    var outputs = try OutputFiles(
      paths, replacing: arguments.has(Option.force.name), protecting: [front.identity, back.identity])
    let bar = ProgressBar("composing")
    let report = try await media.moment(
      front: front, back: back, foreground: foreground, outputs: outputs.opened
    ) { bar.show($0) }
    bar.clear()
    await media.stop()

    paths = report.verdict.verdict == .accepted ? try outputs.commit() : [:]
    if arguments.has("--json") {
      let result = ComposeResult(verdict: report.verdict, outputs: report.outputs, paths: paths)
      try arguments.printResult(try JSON.text(result), writing: destination)
    } else if report.verdict.verdict == .rejected {
      Console.note(VerdictText.text(of: report.verdict, explains: false))
    } else {
      for output in report.outputs {
        let path = paths[output.role] ?? ""
        let line = "\(output.role.rawValue)  \(path)  \(output.width)x\(output.height)  \(output.bytes) bytes"
        try arguments.printResult(line, writing: destination)
      }
    }
    return report.verdict.verdict == .accepted ? .success : .rejected
  }

  static let validate = Subcommand(
    "validate", abstract: "Check whether two clips are valid and have the right duration.",
    operands: ["FRONT", "BACK"],
    options: [
      .definition, .mediaMemory, .sandbox, .json, Option("--explain", help: "print the decisions with their reasons"),
    ],
    example: "take5 validate samples/front.mp4 samples/back.mp4 --explain"
  ) { arguments in
    let media = try await LocalMedia(arguments)
    let front = try InputFile(.front, path: arguments.operands[0])
    let back = try InputFile(.back, path: arguments.operands[1])
    let bar = ProgressBar("validating")
    let report = try await media.moment(front: front, back: back, foreground: .front, outputs: [:]) { bar.show($0) }
    bar.clear()
    await media.stop()
    try VerdictText.print(report.verdict, json: arguments.has("--json"), explains: arguments.has("--explain"))
    return report.verdict.verdict == .accepted ? .success : .rejected
  }

  static let still = Subcommand(
    "still", abstract: "Extract one frame of a clip as an upright image.", operands: ["CLIP"],
    options: [
      Option("--at", "SECONDS", .anySeconds, default: "0", help: "time of the frame from the start of the clip"),
      Option("--output", "OUT.jpg", .file, short: "-o", help: "file for the image; - is standard output"),
      Option("--long-edge", "PIXELS", .integer(16...16384), help: "maximum length of the longer edge"),
      Option("--quality", "1-100", .integer(1...100), default: "85", help: "JPEG quality"), .force, .definition,
      .mediaMemory, .sandbox,
      .json,
    ],
    example: "take5 still samples/back.mp4 --at 1.0 -o still.jpg"
  ) { arguments in
    guard let destination = arguments.value("--output") else {
      throw CommandFailure(.usage, "no output given", remedy: "name a file with -o OUT.jpg")
    }
    try OutputFile.check(destination, is: "JPEG", endings: ["jpg", "jpeg"])
    let seconds = try arguments.seconds("--at") ?? 0
    let longEdge = try arguments.number("--long-edge")
    let quality = try arguments.number("--quality") ?? 85
    let media = try await LocalMedia(arguments)
    let clip = try InputFile(.clip, path: arguments.operands[0])
    let output = try OutputFile(
      path: destination, replacing: arguments.has(Option.force.name), protecting: [clip.identity])
    let report = try await media.still(
      clip, at: seconds, longEdge: longEdge, quality: quality, output: output.file)
    await media.stop()
    guard report.verdict.verdict == .accepted else {
      try VerdictText.print(report.verdict, json: arguments.has("--json"))
      return .rejected
    }
    try output.commit()
    if arguments.has("--json") {
      let paths: [Role: String] = [.image: destination]
      let result = ComposeResult(verdict: report.verdict, outputs: report.outputs, paths: paths)
      try arguments.printResult(try JSON.text(result), writing: destination)
    } else if let facts = report.outputs.first {
      try arguments.printResult(
        "\(destination)  \(facts.width)x\(facts.height)  \(facts.bytes) bytes", writing: destination)
    }
    return .success
  }
}

/// The result that `take5 compose` and `take5 still` print as JSON: the verdict and the outputs with their paths.
private struct ComposeResult: Encodable {
  struct Output: Encodable {
    let path: String
    let type: String
    let bytes: Int64
    let width: Int
    let height: Int
    let duration: Double?
    let thumbhash: String?
    let loudnessLufs: Double?
  }

  let verdict: Verdict.Outcome
  let reasons: [Reason]
  let warnings: [Warning]
  let inputs: [InputName: InputReport]
  let moment: MomentReport?
  let decisions: [Decision]
  let outputs: [Role: Output]

  init(verdict: Verdict, outputs: [OutputFacts], paths: [Role: String]) {
    self.verdict = verdict.verdict
    reasons = verdict.reasons
    warnings = verdict.warnings
    inputs = verdict.inputs
    moment = verdict.moment
    decisions = verdict.decisions
    var named: [Role: Output] = [:]
    for output in outputs {
      guard let path = paths[output.role] else { continue }
      named[output.role] = Output(
        path: path, type: output.type, bytes: output.bytes, width: output.width, height: output.height,
        duration: output.duration, thumbhash: output.thumbhash, loudnessLufs: output.loudnessLufs)
    }
    self.outputs = named
  }
}
