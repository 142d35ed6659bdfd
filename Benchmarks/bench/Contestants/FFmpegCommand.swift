internal import Model

/// The outputs as a careful engineer makes them with ffmpeg: a look at both clips with ffprobe, then one command that
/// decodes each clip once and treats damage as an error.
struct FFmpegCommand: Contestant {
  private let settings: FFmpegSettings

  /// - Parameter threads: nil: as many as ffmpeg likes.
  init(_ definition: Definition, threads: Int?) {
    settings = FFmpegSettings(definition: definition, threads: threads)
  }

  var name: String { "ffmpeg-\(settings.variant)" }
  let title = "ffmpeg"

  func prepare(in folder: String, on workbench: Workbench) throws -> Workplace {
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
    return Workplace(
      commands: settings.probes(footage, programs: programs, folder: folder)
        + [Command(path: programs.ffmpeg, arguments: arguments, log: "\(folder)/log")],
      outputs: outputs)
  }
}
