/// Computes a plan from a definition and the facts of the inputs.
///
/// The same definition and facts give the same plan, the texts of its decisions included: they are part of the recipe.
package struct Planner: Sendable {
  private let definition: Definition

  package init(_ definition: Definition) { self.definition = definition }

  /// The plan for one moment.
  ///
  /// - Parameters:
  ///   - front, back: the facts of the clips.
  ///   - foreground: the camera that is drawn on top.
  ///   - roles: the outputs to plan; nil: all outputs of the definition.
  package func plan(
    front: ClipFacts, back: ClipFacts, foreground: Camera, roles: Set<Role>? = nil
  ) -> Plan {
    plan([.front: front, .back: back], foreground: foreground, roles: roles)
  }

  /// The plan for a single clip.
  package func plan(clip facts: ClipFacts) -> Plan { plan([.clip: facts], foreground: nil, roles: nil) }

  /// - Parameter foreground: nil: there is nothing to compose.
  private func plan(_ probed: [InputName: ClipFacts], foreground: Camera?, roles: Set<Role>?) -> Plan {
    let facts = probed.mapValues(plannedFacts)
    var decisions: [Decision] = []
    for input in InputName.allCases {
      guard let facts = facts[input] else { continue }
      decisions += streamDecisions(of: facts, input: input)
    }

    var compositions: [CompositionPlan] = []
    var rendition: RenditionPlan?
    var clips: [ClipPlan] = []
    var stills: [StillPlan] = []
    var preview: PreviewPlan?
    for role in definition.outputs.made(from: Set(facts.keys), requested: roles) {
      switch (definition.outputs[role], role.kind) {
      case (.composed(let output), .composed(let isSwapped)):
        guard let foreground else { continue }
        let camera = isSwapped ? foreground.other : foreground
        compositions.append(composition(output, role: role, facts, camera, &decisions))
      case (.rendition(let output), _): rendition = self.rendition(output, role: role)
      case (.clip(let output), .clip(let input)):
        guard let facts = facts[input] else { continue }
        clips.append(clip(output, role: role, input: input, facts: facts, &decisions))
      case (.still(let still), _): stills.append(self.still(still, role: role, facts: facts))
      case (.preview(let output), _): preview = self.preview(output, role: role, facts: facts)
      case (.composed, _), (.clip, _), (nil, _): continue
      }
    }

    let audio = compositions.flatMap { [$0.audio, $0.otherAudio] } + clips.map(\.audio)
    let withAudio = Set(audio.compactMap { $0?.input })
    return Plan(
      definition: definition.name, version: definition.version, limits: definition.limits,
      inputs: Dictionary(
        uniqueKeysWithValues: facts.map { ($0.key, InputPlan(facts: $0.value, readsAudio: withAudio.contains($0.key))) }
      ),
      moment: foreground == nil ? nil : definition.moment ?? Definition.Moment(), compositions: compositions,
      rendition: rendition, clips: clips, stills: stills, preview: preview, decisions: decisions)
  }

  /// The facts without those that a definition from before they were found does not use: its plans stay.
  private func plannedFacts(_ facts: ClipFacts) -> ClipFacts {
    guard !definition.outputs.roles.contains(where: { definition.outputs[$0]?.clip?.copy != nil }) else { return facts }
    var facts = facts
    facts.video.demand = nil
    return facts
  }

  /// The plan for a still from a single clip of any duration.
  package func plan(stillOf facts: ClipFacts, at seconds: Double, longEdge: Int?, quality: Int) -> Plan {
    var limits = definition.limits
    (limits.seconds, limits.trimSeconds) = (nil, nil)
    let size = longEdge.map { facts.video.display.fitted(longEdge: $0) } ?? facts.video.display
    return Plan(
      definition: definition.name, version: definition.version, limits: limits,
      inputs: [.clip: InputPlan(facts: facts, readsAudio: false)],
      stills: [StillPlan(role: .image, input: .clip, at: seconds, size: size, quality: quality)],
      decisions: streamDecisions(of: facts, input: .clip))
  }

  /// The plan for decoding all of a single clip without outputs.
  package func plan(inspecting facts: ClipFacts) -> Plan {
    var limits = definition.limits
    limits.seconds = SecondsRange(shortest: 0, longest: Self.maxInspected)
    limits.trimSeconds = nil
    return Plan(
      definition: definition.name, version: definition.version, limits: limits,
      inputs: [.clip: InputPlan(facts: facts, readsAudio: facts.audio != nil)],
      decisions: streamDecisions(of: facts, input: .clip))
  }

  // An hour: decoding a longer clip would not end before the deadline.
  private static let maxInspected = 3600.0

  private func streamDecisions(of facts: ClipFacts, input: InputName) -> [Decision] {
    var decisions = [
      Decision(
        .videoStream, input: input, choice: "stream \(facts.video.stream)",
        reason: "the first video stream that is enabled and whose codec is allowed (\(facts.video.codec))")
    ]
    if let audio = facts.audio {
      decisions.append(
        Decision(
          .audioStream, input: input, choice: "stream \(audio.stream)",
          reason: "the first sound that is enabled and can be decoded (\(audio.codec), \(audio.sampleRate) Hz)"))
    }
    if !facts.unusedStreams.isEmpty {
      decisions.append(
        Decision(
          .unusedStreams, input: input, choice: "left out: \(facts.unusedStreams.joined(separator: ", "))",
          reason: "one video and one sound make a clip"))
    }
    let transform = facts.video.transform
    if transform != .identity {
      decisions.append(
        Decision(
          .transform, input: input, choice: transform.summary,
          reason: "the display matrix of the track says so"))
    }
    if facts.video.isInterlaced == true {
      decisions.append(
        Decision(
          .deinterlacing, input: input, choice: "each frame shows the field that was taken first",
          reason: "its frames are interlaced: their rows are of two moments"))
    }
    return decisions
  }

  private func composition(
    _ output: Definition.Composed, role: Role, _ facts: [InputName: ClipFacts], _ foreground: Camera,
    _ decisions: inout [Decision]
  ) -> CompositionPlan {
    let top = InputName(foreground)
    let background = InputName(foreground.other)
    let source = [top, background].first { facts[$0]?.audio != nil }
    let audio = source.flatMap { audioPlan(of: $0, facts, loudness: output.loudness) }
    // Whether the foreground's is silent shows when it is decoded.
    let other =
      output.silent == .other && source == top ? audioPlan(of: background, facts, loudness: output.loudness) : nil
    if let audio {
      let origin = audio.input == top ? "the foreground's sound" : "\(Self.lack(of: facts[top])): the other's sound"
      let treatment =
        audio.mode == .copy
        ? "AAC that every player reads is copied"
        : audio.loudness.map { "it is brought to \($0) LUFS" } ?? facts[audio.input]?.audio?.copyObstacle
          ?? "not AAC-LC in one or two channels"
      decisions.append(
        Decision(.audio, input: audio.input, choice: audio.mode.rawValue, reason: "\(origin); \(treatment)"))
    } else {
      decisions.append(Decision(.audio, choice: "none", reason: "neither clip has sound that can be decoded"))
    }
    let canvas = definition.canvas
    decisions.append(
      Decision(
        .layout, choice: "\(output.layout.rawValue), \(top.rawValue) in the foreground",
        reason: "\(role.rawValue) of the definition, on \(canvas.width)x\(canvas.height)"))
    let tiles = CompositionLayout(canvas: canvas, composed: output).tiles(
      background: (background, facts[background]?.video.display ?? canvas.size),
      foreground: (top, facts[top]?.video.display ?? canvas.size))
    return CompositionPlan(
      role: role, canvas: canvas, background: background, foreground: top, tiles: tiles, video: output.video,
      audio: audio, otherAudio: other, seconds: output.seconds)
  }

  /// - Parameter loudness: to which the audio is brought, for which it is encoded; nil: it stays as it is.
  private func audioPlan(
    of input: InputName, _ facts: [InputName: ClipFacts], loudness: Double?
  ) -> AudioPlan? {
    facts[input]?.audio.map {
      AudioPlan(input: input, mode: loudness == nil ? mode(of: $0) : .encode, loudness: loudness)
    }
  }

  private func rendition(_ output: Definition.Rendition, role: Role) -> RenditionPlan {
    RenditionPlan(role: role, size: definition.canvas.size.fitted(longEdge: output.longEdge), video: output.video)
  }

  private static func lack(of foreground: ClipFacts?) -> String {
    guard let undecoded = foreground?.undecodedSound else { return "the foreground has no enabled sound" }
    return "the foreground's sound (\(undecoded.joined(separator: ", "))) cannot be decoded"
  }

  private func clip(
    _ output: Definition.Clip, role: Role, input: InputName, facts: ClipFacts, _ decisions: inout [Decision]
  ) -> ClipPlan {
    let video = facts.video
    let obstacle = obstacle(to: video, in: facts.container) ?? output.copy.flatMap { Self.excess(of: video, over: $0) }
    let fits = obstacle == nil
    decisions.append(
      Decision(
        .clip, input: input, choice: fits ? "remux" : "encode",
        reason: obstacle ?? "8-bit 4:2:0 H.264 plays everywhere"))
    let audio = audioPlan(of: input, [input: facts], loudness: fits ? nil : output.loudness)
    var size = video.display
    if !fits {
      size = size.fitted(longEdge: output.longEdge)
      // What is encoded because phones do not decode it is within what they decode.
      if let copy = output.copy { size = AVCLevel.fitted(size, to: copy.level) }
    }
    return ClipPlan(
      role: role, input: input, mode: fits ? .remux : .encode, size: size, video: fits ? nil : output.video,
      framesPerSecond: fits ? nil : output.framesPerSecond, audio: audio)
  }

  /// The reason why a clip's packets cannot be copied; nil if they can.
  private func obstacle(to video: VideoFacts, in container: ContainerName) -> String? {
    guard video.codec == "h264", video.pixelFormat == "yuv420p" || video.pixelFormat == "yuvj420p" else {
      return "\(video.codec) \(video.pixelFormat) does not play everywhere"
    }
    if container == .webM { return "a WebM has no times of decoding" }
    if video.tag != "avc1" { return "\(video.tag) keeps its parameters among the pictures, where players miss them" }
    if video.dynamicRange != .standard { return "its dynamic range is shown wrong by many players" }
    if let tag = Self.uncommonTag(of: video.color) { return "few players read 4:2:0 with the colour tag \(tag)" }
    if video.cleanAperture != nil { return "few players honour its clean aperture" }
    if video.isInterlaced == true { return "its frames are interlaced" }
    return video.copyObstacle
  }

  /// What a clip that could be copied asks of a decoder beyond what the definition allows; nil if it asks for no more.
  private static func excess(of video: VideoFacts, over limits: Definition.CopyLimits) -> String? {
    guard let demand = video.demand else { return "its parameter sets do not say what a decoder needs" }
    if !limits.profiles.contains(demand.profile) {
      return "few phones decode its profile, \(video.profile ?? "of unknown name") (\(demand.profile))"
    }
    let edge = max(video.coded.width, video.coded.height)
    if edge > limits.longEdge {
      return "its longer edge has \(edge) pixels; not every phone decodes more than \(limits.longEdge)"
    }
    if demand.bitsPerSecond > limits.bitsPerSecond {
      return "it has \(demand.bitsPerSecond) bits per second; not every phone decodes more than \(limits.bitsPerSecond)"
    }
    return demand.level > limits.level
      ? "it needs a decoder of level \(demand.level); not every phone decodes more than \(limits.level)" : nil
  }

  // The matrices of Y'CbCr with constant coefficients (ITU-T H.273, table 4); a tag for RGB cannot be true of 4:2:0.
  private static let matrices: Set<String> = [
    "unknown", "bt709", "fcc", "bt470bg", "smpte170m", "smpte240m", "bt2020nc",
  ]

  private static func uncommonTag(of color: ColorFacts) -> String? {
    if !matrices.contains(color.matrix) { return color.matrix }
    return [color.primaries, color.transfer].first { $0 == "reserved" }
  }

  private func preview(_ preview: Definition.Preview, role: Role, facts: [InputName: ClipFacts]) -> PreviewPlan {
    let input = preview.from.input
    let full = input.flatMap { facts[$0]?.video.display } ?? definition.canvas.size
    return PreviewPlan(
      role: role, input: input, at: preview.at,
      frames: max(1, Int(preview.seconds * Double(preview.framesPerSecond))),
      framesPerSecond: preview.framesPerSecond, size: full.fitted(longEdge: preview.longEdge), quality: preview.quality)
  }

  private func still(_ still: Definition.Still, role: Role, facts: [InputName: ClipFacts]) -> StillPlan {
    let input = still.from.input
    let full = input.flatMap { facts[$0]?.video.display } ?? definition.canvas.size
    return StillPlan(
      role: role, input: input, at: still.at, size: full.fitted(longEdge: still.longEdge), quality: still.quality)
  }

  // Every player decodes AAC-LC in one or two channels; all other audio is encoded.
  private func mode(of audio: AudioFacts) -> AudioPlan.Mode {
    audio.codec == "aac" && audio.profile == "LC" && audio.channels <= 2 && audio.copyObstacle == nil ? .copy : .encode
  }
}
