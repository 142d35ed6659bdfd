internal import Model

/// The outputs as they are often made: an ffmpeg command for each step, which decodes anew what others have decoded.
struct NaiveCommands: Contestant {
  private let settings: FFmpegSettings

  /// - Parameter threads: nil: as many as ffmpeg likes.
  init(_ definition: Definition, threads: Int?) {
    settings = FFmpegSettings(definition: definition, threads: threads)
  }

  var name: String { "naive-\(settings.variant)" }
  let title = "naive ffmpeg"

  func prepare(in folder: String, on workbench: Workbench) throws -> Workplace {
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
    return Workplace(commands: commands, outputs: outputs)
  }
}
