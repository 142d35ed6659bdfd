import Glibc

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 1, let folder = arguments.first, !folder.hasPrefix("-") else {
  let isHelp = arguments.first == "--help"
  fputs("make-samples FOLDER: films the two sample clips, front.mp4 and back.mp4, into a folder\n", isHelp ? stdout : stderr)
  exit(isHelp ? 0 : 64)
}

/// An A minor ninth from the phone's back, its relative major from the front: one evening, heard from two sides.
let front = Clip(
  name: "front", scene: PortraitScene(),
  pad: Pad(
    notes: [
      .init(frequency: 130.81, start: 0.0, place: -0.2), .init(frequency: 196.00, start: 0.25, place: 0.3),
      .init(frequency: 246.94, start: 0.6, place: -0.5), .init(frequency: 329.63, start: 1.1, place: 0.5),
      .init(frequency: 392.00, start: 2.0, place: 0.1), .init(frequency: 587.33, start: 3.0, place: -0.3),
    ],
    breeze: (strength: 0.05, step: 0.0011), seconds: 5),
  quarterTurns: 1)
let back = Clip(
  name: "back", scene: DuskScene(),
  pad: Pad(
    notes: [
      .init(frequency: 110.00, start: 0.0, place: 0.2), .init(frequency: 164.81, start: 0.3, place: -0.4),
      .init(frequency: 261.63, start: 0.8, place: 0.4), .init(frequency: 329.63, start: 1.5, place: -0.1),
      .init(frequency: 493.88, start: 2.4, place: 0.5),
    ],
    breeze: (strength: 0.22, step: 0.0019), seconds: 5),
  quarterTurns: 0)

func report(_ name: String) -> (Double) -> Void {
  let isTerminal = isatty(STDERR_FILENO) == 1
  return { share in
    if isTerminal { fputs("\r\(name) \(Int(share * 100)) %" + (share == 1 ? "\n" : ""), stderr) }
  }
}

do {
  try await front.write(into: folder, progress: report(front.name))
  try await back.write(into: folder, progress: report(back.name))
} catch {
  fputs("make-samples: \(error)\n", stderr)
  exit(74)
}
