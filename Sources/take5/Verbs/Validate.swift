import Model

extension Subcommand {
  static let validate = Subcommand(
    "validate", abstract: "Tell whether two clips are sound and of the right length.", operands: ["FRONT", "BACK"],
    options: [.definition, .mediaMemory, .json, Option("--explain", help: "print what was chosen, and why")],
    example: "take5 validate samples/front.mp4 samples/back.mp4 --explain"
  ) { arguments in
    let work = try LocalWork(arguments)
    let front = try InputFile(.front, path: arguments.operands[0])
    let back = try InputFile(.back, path: arguments.operands[1])
    let bar = ProgressBar("validating")
    let report = try await work.moment(front: front, back: back, foreground: .front, outputs: [:]) { bar.show($0) }
    bar.clear()
    await work.stop()
    try VerdictText.print(report.verdict, json: arguments.has("--json"), explains: arguments.has("--explain"))
    return report.verdict.verdict == .accepted ? .done : .rejected
  }
}
