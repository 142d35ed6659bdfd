internal import AV
import Glibc
internal import SyntheticMedia

/// Prints a message on standard error.
func note(_ text: String) { _ = write(STDERR_FILENO, text, text.utf8.count) }

let arguments = CommandLine.arguments.dropFirst()
let usage = "make-samples FOLDER: renders the two sample clips, front.mp4 and back.mp4, into a folder"
if arguments.first == "--help" {
  print(usage)
  exit(0)
}
guard arguments.count == 1, let folder = arguments.first, !folder.hasPrefix("-") else {
  note(usage + "\n")
  exit(64)
}

/// The clip of the front camera, which starts first: phones start their cameras one after the other.
let front = Clip(
  name: "front", scene: PortraitScene(),
  microphone: Microphone(gain: 0.7, isMirrored: true, hiss: Noise(seed: 71)), start: 0, quarterTurns: 1, tags: nil)
/// The clip of the back camera, with a position in the ocean and the tags of a phone that does not exist.
let back = Clip(
  name: "back", scene: DuskScene(),
  microphone: Microphone(gain: 1, isMirrored: false, hiss: Noise(seed: 72)), start: 0.18, quarterTurns: 3,
  tags: PhoneTags(values: [
    ("com.apple.quicktime.location.ISO6709", "+46.5000-030.0000+000.000/"),
    ("com.apple.quicktime.make", "Nobody"), ("com.apple.quicktime.model", "Phone of Nowhere"),
    ("com.apple.quicktime.software", "1.0"),
  ]))

/// Returns a closure that prints the progress of a clip on a terminal.
func report(_ name: String) -> (Double) -> Void {
  let isTerminal = isatty(STDERR_FILENO) == 1
  return { progress in
    if isTerminal { note("\r\(name).mp4 \(Int(progress * 100)) %" + (progress == 1 ? "\n" : "")) }
  }
}

// The largest allocation for one frame; no foreign files are decoded here.
Library.configure(maxAllocation: 1 << 28)
do {
  try await front.write(into: folder, progress: report(front.name))
  try await back.write(into: folder, progress: report(back.name))
} catch {
  note("make-samples: \(error)\n")
  exit(74)
}
