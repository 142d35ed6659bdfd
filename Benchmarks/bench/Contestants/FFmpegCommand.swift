internal import Model

/// The outputs from a careful use of ffmpeg: both clips are probed with ffprobe, then one command decodes each clip once
/// and treats damage as an error.
struct FFmpegCommand: Contestant {
  private let settings: FFmpegSettings

  /// - Parameter threads: nil: ffmpeg's default.
  init(_ definition: Definition, threads: Int?) {
    settings = FFmpegSettings(definition: definition, threads: threads)
  }

  var name: String { "ffmpeg-\(settings.variant)" }
  let title = "ffmpeg"

  func prepare(in folder: String, on workbench: Workbench) throws -> PreparedContestant {
    let graph = try CompositionGraph(settings.definition, masks: workbench.folder)
    let outputs = settings.outputs(in: folder)
    let strict = settings.codecThreads + ["-err_detect", "explode", "-i"]
    let stills = StillOutput.all(of: settings.definition)
    let (footage, programs) = (workbench.footage, workbench.programs)
    let arguments =
      FFmpegSettings.quiet + ["-xerror"] + settings.filterThreads + strict + [footage.back] + strict + [footage.front]
      + ["-i", graph.mask, "-filter_complex", graph.filters(to: "v", stills: stills)]
      + (try settings.composed(from: "v", to: outputs[.composed] ?? ""))
      + stills.flatMap { ["-map", "[\($0.label)]", "-frames:v", "1", "-q:v", "3", outputs[$0.role] ?? ""] }
    return PreparedContestant(
      commands: settings.probes(footage, programs: programs, folder: folder)
        + [Command(path: programs.ffmpeg, arguments: arguments, log: "\(folder)/log")],
      outputs: outputs)
  }
}

/// The outputs from one ffmpeg command for each step, each of which decodes its input again.
struct NaiveCommands: Contestant {
  private let settings: FFmpegSettings

  /// - Parameter threads: nil: ffmpeg's default.
  init(_ definition: Definition, threads: Int?) {
    settings = FFmpegSettings(definition: definition, threads: threads)
  }

  var name: String { "naive-\(settings.variant)" }
  let title = "naive ffmpeg"

  func prepare(in folder: String, on workbench: Workbench) throws -> PreparedContestant {
    let outputs = settings.outputs(in: folder)
    let (footage, programs) = (workbench.footage, workbench.programs)
    var commands = settings.probes(footage, programs: programs, folder: folder)
    func ffmpeg(_ step: String, _ arguments: [String]) {
      commands.append(
        Command(
          path: programs.ffmpeg, arguments: FFmpegSettings.quiet + arguments, log: "\(folder)/\(step).log"))
    }
    func still(_ output: StillOutput, of clip: String) {
      let scale = "scale=\(output.size.width):\(output.size.height)"
      ffmpeg(
        output.role.rawValue,
        settings.codecThreads + ["-ss", "\(output.still.at)", "-i", clip, "-frames:v", "1", "-vf", scale]
          + ["-q:v", "3", outputs[output.role] ?? ""])
    }

    let stills = StillOutput.all(of: settings.definition)
    for (source, clip) in [(Definition.Still.Source.back, footage.back), (.front, footage.front)] {
      ffmpeg("check-\(source)", ["-xerror"] + settings.codecThreads + ["-i", clip, "-f", "null", "-"])
      for output in stills where output.still.from == source { still(output, of: clip) }
    }
    let graph = try CompositionGraph(settings.definition, masks: workbench.folder)
    let composed = outputs[.composed] ?? ""
    ffmpeg(
      "compose",
      settings.filterThreads + settings.codecThreads + ["-i", footage.back] + settings.codecThreads
        + ["-i", footage.front, "-i", graph.mask, "-filter_complex", graph.filters(to: "v")]
        + (try settings.composed(from: "v", to: composed)))
    for output in stills where output.still.from == .composed { still(output, of: composed) }
    return PreparedContestant(commands: commands, outputs: outputs)
  }
}

/// The arguments that the contestants with ffmpeg share.
struct FFmpegSettings: Sendable {
  let definition: Definition
  /// The threads of each decoder, encoder and filter graph; nil: ffmpeg's default.
  let threads: Int?

  /// The first arguments of each command.
  static let quiet = ["-y", "-nostdin", "-v", "error"]

  /// The options in front of an input or an output.
  var codecThreads: [String] { threads.map { ["-threads", "\($0)"] } ?? [] }

  /// The global options for filter threads.
  var filterThreads: [String] {
    threads.map { ["-filter_threads", "\($0)", "-filter_complex_threads", "\($0)"] } ?? []
  }

  /// Returns the arguments for the composed video with the audio of the inset's clip.
  func composed(from label: String, to path: String) throws -> [String] {
    guard let video = definition.outputs[.composed]?.composed?.video else {
      throw BenchError("the definition has no composed output")
    }
    return ["-map", "[\(label)]", "-map", "1:a", "-c:v", "libx264", "-preset", video.preset, "-crf", "\(video.crf)"]
      // Without parameters of its own, a definition stands for a plain preset.
      + (video.x264.isEmpty ? [] : ["-x264-params", video.x264Parameters])
      + ["-pix_fmt", "yuv420p"] + codecThreads + ["-c:a", "copy", "-movflags", "+faststart", path]
  }

  /// Returns the commands that probe both clips.
  func probes(_ footage: PhoneFootage, programs: Programs, folder: String) -> [Command] {
    [footage.back, footage.front].enumerated().map { index, clip in
      Command(
        path: programs.ffprobe, arguments: ["-v", "error", "-show_format", "-show_streams", "-of", "json", clip],
        log: "\(folder)/probe\(index).json")
    }
  }

  /// Returns the path of each output of the definition.
  func outputs(in folder: String) -> [Role: String] {
    Dictionary(uniqueKeysWithValues: definition.outputs.roles.map { ($0, "\(folder)/\($0.fileName)") })
  }

  /// A name that distinguishes settings, also part of a folder's name.
  var variant: String { "\(definition.variant)-threads\(threads.map(String.init) ?? "")" }
}
