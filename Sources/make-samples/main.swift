internal import AV
import Glibc

/// Says something that is no result.
func note(_ text: String) { _ = write(STDERR_FILENO, text, text.utf8.count) }

let arguments = CommandLine.arguments.dropFirst()
let usage = "make-samples FOLDER: films the two sample clips, front.mp4 and back.mp4, into a folder"
if arguments.first == "--help" {
  print(usage)
  exit(0)
}
guard arguments.count == 1, let folder = arguments.first, !folder.hasPrefix("-") else {
  note(usage + "\n")
  exit(64)
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
    breeze: (strength: 0.10, step: 0.0011), seconds: 5),
  quarterTurns: 1)
let back = Clip(
  name: "back", scene: DuskScene(),
  pad: Pad(
    notes: [
      .init(frequency: 110.00, start: 0.0, place: 0.2), .init(frequency: 164.81, start: 0.3, place: -0.4),
      .init(frequency: 261.63, start: 0.8, place: 0.4), .init(frequency: 329.63, start: 1.5, place: -0.1),
      .init(frequency: 493.88, start: 2.4, place: 0.5),
    ],
    breeze: (strength: 0.40, step: 0.0019), seconds: 5),
  quarterTurns: 0)

/// Shows on a terminal how far a clip is.
func report(_ name: String) -> (Double) -> Void {
  let isTerminal = isatty(STDERR_FILENO) == 1
  return { share in
    if isTerminal { note("\r\(name).mp4 \(Int(share * 100)) %" + (share == 1 ? "\n" : "")) }
  }
}

// What one picture may take; the clips are made here, so nothing hostile can ask for more.
Library.configure(largestAllocation: 1 << 28)
do {
  try await front.write(into: folder, progress: report(front.name))
  try await back.write(into: folder, progress: report(back.name))
} catch {
  note("make-samples: \(error)\n")
  exit(74)
}
