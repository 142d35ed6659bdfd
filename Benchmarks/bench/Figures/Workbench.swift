internal import Model
internal import Platform

/// The programs, clips, folder and cached outputs that measurements share.
final class Workbench {
  let programs: Programs
  let footage: PhoneFootage
  /// The folder of all files that the benchmark makes.
  let folder: String
  /// The number of runs of each comparison.
  let pairs: Int
  private var preparedContestants: [String: PreparedContestant] = [:]
  private var references: [Size: RawVideo] = [:]

  init(programs: Programs, footage: PhoneFootage, folder: String, pairs: Int) {
    self.programs = programs
    self.footage = footage
    self.folder = folder
    self.pairs = pairs
  }

  deinit { for video in references.values { video.remove() } }

  /// Returns a contestant's commands and outputs. The commands have run once, to warm up.
  func prepared(_ contestant: some Contestant) throws -> PreparedContestant {
    if let ready = preparedContestants[contestant.name] { return ready }
    Console.progress("warming up: \(contestant.name)")
    let folder = "\(folder)/\(contestant.name)"
    try Folder.make(folder)
    let prepared = try contestant.prepare(in: folder, on: self)
    for command in prepared.commands { try command.run() }
    try prepared.checkOutputs()
    preparedContestants[contestant.name] = prepared
    return prepared
  }

  /// Returns the frames of a definition's composed video before encoding, as ffmpeg's filters make them.
  func reference(for definition: Definition) throws -> RawVideo {
    if let ready = references[definition.canvas.size] { return ready }
    Console.progress("composing the reference frames")
    let size = definition.canvas.size
    let video = RawVideo(
      path: "\(folder)/reference-\(size.width).yuv", size: size, framesPerSecond: definition.canvas.framesPerSecond)
    let graph = try CompositionGraph(definition, masks: folder)
    let inputs = ["-i", footage.back, "-i", footage.front, "-i", graph.mask]
    try Command(
      path: programs.ffmpeg,
      arguments: FFmpegSettings.quiet + inputs + ["-filter_complex", graph.filters(to: "composed")]
        + ["-map", "[composed]", "-f", "rawvideo", video.path],
      log: "\(folder)/reference.log"
    ).run()
    references[size] = video
    return video
  }
}

/// A figure and the way to measure it.
protocol Measurement: Sendable {
  var figure: Figure { get }

  /// Measures the figure; inputs and outputs that are missing are made first.
  func measure(on workbench: Workbench) async throws -> Finding
}
