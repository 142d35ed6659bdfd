internal import Definitions
internal import Model
internal import Platform

/// Compares the cost of one composition: take5 and the ffmpeg command in turns, so that a slower minute hits both.
struct CompositionBenchmark {
  private let take5: Take5Run
  private let ffmpeg: FFmpegRun

  /// What two neighbouring runs cost.
  struct Pair {
    let take5: Cost
    let ffmpeg: Cost
  }

  /// Makes the folders of the outputs and what is not measured.
  init(program: String, footage: PhoneFootage, folder: String) throws {
    let folders = (take5: "\(folder)/take5", ffmpeg: "\(folder)/ffmpeg")
    for folder in [folders.take5, folders.ffmpeg] { try Folder.make(folder) }
    take5 = Take5Run(program: program, footage: footage, folder: folders.take5)
    ffmpeg = FFmpegRun(
      ffmpeg: try Command.find("ffmpeg"), ffprobe: try Command.find("ffprobe"),
      definition: try Definitions.take5Post(), footage: footage, folder: folders.ffmpeg)
    try ffmpeg.prepare()
  }

  /// Runs both once for warmth, and then `count` pairs whose order alternates.
  func run(pairs count: Int, progress: (String) -> Void) throws -> [Pair] {
    progress("warming up")
    _ = try Cost.measuring(take5.commands)
    _ = try Cost.measuring(ffmpeg.commands)
    try checkOutputs()
    return try (0..<count).map { index in
      progress("pair \(index + 1) of \(count)")
      if index % 2 == 0 {
        let first = try Cost.measuring(take5.commands)
        return Pair(take5: first, ffmpeg: try Cost.measuring(ffmpeg.commands))
      }
      let first = try Cost.measuring(ffmpeg.commands)
      return Pair(take5: try Cost.measuring(take5.commands), ffmpeg: first)
    }
  }

  /// A comparison is one only if both made everything.
  private func checkOutputs() throws {
    for role in ffmpeg.definition.outputs.roles {
      for path in [take5.path(of: role), ffmpeg.path(of: role)] {
        guard try Descriptor(reading: path).size() > 0 else { throw BenchError("\(path) is empty") }
      }
    }
  }
}
