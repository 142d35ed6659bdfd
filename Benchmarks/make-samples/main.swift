internal import AV
import Glibc
internal import SyntheticMedia

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

/// The front camera begins first, as cameras that are started one after the other do.
let front = Clip(
  name: "front", scene: PortraitScene(),
  microphone: Microphone(gain: 0.7, isMirrored: true, hiss: Noise(seed: 71)), start: 0, quarterTurns: 1, tags: nil)
/// A place at sea, where nobody lives, and a phone that nobody makes.
let back = Clip(
  name: "back", scene: DuskScene(),
  microphone: Microphone(gain: 1, isMirrored: false, hiss: Noise(seed: 72)), start: 0.18, quarterTurns: 3,
  tags: PhoneTags(values: [
    ("com.apple.quicktime.location.ISO6709", "+46.5000-030.0000+000.000/"),
    ("com.apple.quicktime.make", "Nobody"), ("com.apple.quicktime.model", "Phone of Nowhere"),
    ("com.apple.quicktime.software", "1.0"),
  ]))

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
