internal import Model

/// What the ffmpeg commands have in common, whoever puts them together.
struct FFmpegSettings: Sendable {
  let definition: Definition
  /// Of each decoder, encoder and filter graph; nil: as many as ffmpeg likes.
  let threads: Int?

  /// What begins a command.
  static let quiet = ["-y", "-nostdin", "-v", "error"]

  /// Before an input or an output.
  var codecThreads: [String] { threads.map { ["-threads", "\($0)"] } ?? [] }

  /// Before anything else.
  var filterThreads: [String] {
    threads.map { ["-filter_threads", "\($0)", "-filter_complex_threads", "\($0)"] } ?? []
  }

  /// The composed video, with the sound of the clip that is the inset.
  func composed(from label: String, to path: String) throws -> [String] {
    guard let video = definition.outputs.composed?.video else { throw BenchError("nothing is composed") }
    return ["-map", "[\(label)]", "-map", "1:a", "-c:v", "libx264", "-preset", video.preset, "-crf", "\(video.crf)"]
      // The plain preset is what people type.
      + (video.x264.isEmpty ? [] : ["-x264-params", video.x264Parameters])
      + ["-pix_fmt", "yuv420p"] + codecThreads + ["-c:a", "copy", "-movflags", "+faststart", path]
  }

  /// A look at both clips.
  func probes(_ footage: PhoneFootage, programs: Programs, folder: String) -> [Command] {
    [footage.back, footage.front].enumerated().map { index, clip in
      Command(
        path: programs.ffprobe, arguments: ["-v", "error", "-show_format", "-show_streams", "-of", "json", clip],
        log: "\(folder)/probe\(index).json")
    }
  }

  /// Where each output of the definition goes.
  func outputs(in folder: String) -> [Role: String] {
    Dictionary(uniqueKeysWithValues: definition.outputs.roles.map { ($0, "\(folder)/\($0.fileName)") })
  }

  /// Tells settings apart, fit for a folder's name.
  var variant: String { "\(definition.variant)-threads\(threads.map(String.init) ?? "")" }
}
