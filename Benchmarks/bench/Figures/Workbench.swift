internal import Model
internal import Platform

/// What measurements share: programs, clips, a folder, and what was made there already.
final class Workbench {
  let programs: Programs
  let footage: PhoneFootage
  /// Takes everything that is made.
  let folder: String
  /// How often each two are compared.
  let pairs: Int
  private var workplaces: [String: Workplace] = [:]
  private var references: [Size: RawVideo] = [:]

  init(programs: Programs, footage: PhoneFootage, folder: String, pairs: Int) {
    self.programs = programs
    self.footage = footage
    self.folder = folder
    self.pairs = pairs
  }

  deinit { for video in references.values { video.remove() } }

  /// Where a contestant has its commands and its outputs; it has run once, for warmth.
  func workplace(of contestant: some Contestant) throws -> Workplace {
    if let ready = workplaces[contestant.name] { return ready }
    Console.progress("warming up: \(contestant.name)")
    let folder = "\(folder)/\(contestant.name)"
    try Folder.make(folder)
    let place = try contestant.prepare(in: folder, on: self)
    for command in place.commands { try command.run() }
    try place.checkOutputs()
    workplaces[contestant.name] = place
    return place
  }

  /// The pictures of a definition's composed video before they are encoded, as ffmpeg's filters make them.
  func reference(for definition: Definition) throws -> RawVideo {
    if let ready = references[definition.canvas.size] { return ready }
    Console.progress("composing the pictures that others are compared with")
    let size = definition.canvas.size
    let video = RawVideo(
      path: "\(folder)/reference-\(size.width).yuv", size: size, framesPerSecond: definition.canvas.framesPerSecond)
    let graph = try CompositionGraph(definition, masks: folder)
    let inputs = ["-i", footage.back, "-i", footage.front, "-i", graph.mask]
    try Command(
      path: programs.ffmpeg,
      arguments: ["-y", "-nostdin", "-v", "error"] + inputs + ["-filter_complex", graph.filters(to: "composed")]
        + ["-map", "[composed]", "-f", "rawvideo", video.path],
      log: "\(folder)/reference.log"
    ).run()
    references[size] = video
    return video
  }
}
