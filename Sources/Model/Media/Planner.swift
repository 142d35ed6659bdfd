/// Turns a definition and the facts of the inputs into a plan; pure, so that the same gives the same.
package struct Planner: Sendable {
  private let definition: Definition

  package init(_ definition: Definition) { self.definition = definition }

  /// The plan for one moment.
  ///
  /// - Parameters:
  ///   - facts: what was found in the front and the back clip.
  ///   - foreground: the camera that is drawn on top.
  ///   - roles: the outputs that are wanted; nil: all of the definition.
  package func plan(
    front: ClipFacts, back: ClipFacts, foreground: Camera, roles: Set<Role>? = nil
  ) -> Plan {
    let facts: [InputName: ClipFacts] = [.front: front, .back: back]
    let wanted = { (role: Role) in roles?.contains(role) ?? true }
    var decisions: [Decision] = []
    for input in [InputName.front, .back] {
      guard let facts = facts[input] else { continue }
      decisions += streamDecisions(of: facts, input: input)
    }

    let composition = wanted(.composed) || wanted(.poster) ? composition(facts, foreground, &decisions) : nil
    var clips: [ClipPlan] = []
    for camera in [Camera.front, .back] {
      let output = camera == .front ? definition.outputs.clipFront : definition.outputs.clipBack
      let input = InputName(camera)
      guard let output, let facts = facts[input], wanted(.clip(camera)) else { continue }
      clips.append(clip(output, role: .clip(camera), input: input, facts: facts, &decisions))
    }
    var stills: [StillPlan] = []
    for (role, still) in definition.outputs.stills where wanted(role) {
      stills.append(self.still(still, role: role, facts: facts))
    }

    let heard = Set(([composition?.audio] + clips.map(\.audio)).compactMap { $0?.input })
    return Plan(
      definition: definition.name, version: definition.version, limits: definition.limits,
      inputs: Dictionary(
        uniqueKeysWithValues: facts.map { ($0.key, InputPlan(facts: $0.value, readsAudio: heard.contains($0.key))) }),
      composition: composition, clips: clips, stills: stills, decisions: decisions)
  }

  /// The plan for a picture out of any single clip, whatever its length.
  package func plan(stillOf facts: ClipFacts, at seconds: Double, longEdge: Int?, quality: Int) -> Plan {
    var limits = definition.limits
    limits.seconds = nil
    let size = longEdge.map { facts.video.display.fitted(longEdge: $0) } ?? facts.video.display
    return Plan(
      definition: definition.name, version: definition.version, limits: limits,
      inputs: [.clip: InputPlan(facts: facts, readsAudio: false)], composition: nil, clips: [],
      stills: [StillPlan(role: .image, input: .clip, at: seconds, size: size, quality: quality)],
      decisions: streamDecisions(of: facts, input: .clip))
  }

  private func streamDecisions(of facts: ClipFacts, input: InputName) -> [Decision] {
    var decisions = [
      Decision(
        .videoStream, input: input, choice: "stream \(facts.video.stream)",
        reason: "the first video stream whose codec is allowed (\(facts.video.codec))")
    ]
    if let audio = facts.audio {
      decisions.append(
        Decision(
          .audioStream, input: input, choice: "stream \(audio.stream)",
          reason: "the first sound that can be decoded (\(audio.codec), \(audio.sampleRate) Hz)"))
    }
    let transform = facts.video.transform
    if transform != .identity {
      let turn = "\(transform.rotation.rawValue) degrees clockwise"
      decisions.append(
        Decision(
          .transform, input: input, choice: transform.mirrored ? "mirrored, then \(turn)" : turn,
          reason: "the display matrix of the track says so"))
    }
    return decisions
  }

  private func composition(
    _ facts: [InputName: ClipFacts], _ foreground: Camera, _ decisions: inout [Decision]
  ) -> CompositionPlan? {
    guard let output = definition.outputs.composed else { return nil }
    let front = InputName(foreground)
    let back = InputName(foreground.other)
    let source = [front, back].first { facts[$0]?.audio != nil }
    let audio = source.flatMap { input in facts[input]?.audio.map { AudioPlan(input: input, mode: mode(of: $0)) } }
    if let audio {
      let whose = audio.input == front ? "the foreground's sound" : "the foreground is silent: the other's sound"
      let how = audio.mode == .copy ? "AAC that every player reads is copied" : "not AAC-LC in one or two channels"
      decisions.append(Decision(.audio, input: audio.input, choice: audio.mode.rawValue, reason: "\(whose); \(how)"))
    } else {
      decisions.append(Decision(.audio, choice: "none", reason: "neither clip has sound that can be decoded"))
    }
    return CompositionPlan(
      canvas: definition.canvas, background: back, foreground: front, inset: rectangle(of: output.inset),
      radius: output.inset.radius, video: output.video, audio: audio, seconds: output.seconds)
  }

  private func rectangle(of inset: Definition.Inset) -> Rectangle {
    let canvas = definition.canvas
    let width = Size.even(Double(canvas.width) * inset.width)
    let height = Size.even(Double(width) * Double(canvas.height) / Double(canvas.width))
    let margin = inset.margin / 2 * 2
    let right = canvas.width - width - margin
    let bottom = canvas.height - height - margin
    let atLeft = inset.corner == .topLeft || inset.corner == .bottomLeft
    let atTop = inset.corner == .topLeft || inset.corner == .topRight
    return Rectangle(x: atLeft ? margin : right, y: atTop ? margin : bottom, width: width, height: height)
  }

  private func clip(
    _ output: Definition.Clip, role: Role, input: InputName, facts: ClipFacts, _ decisions: inout [Decision]
  ) -> ClipPlan {
    let video = facts.video
    let fits = video.codec == "h264" && (video.pixelFormat == "yuv420p" || video.pixelFormat == "yuvj420p")
    decisions.append(
      Decision(
        .clip, input: input, choice: fits ? "remux" : "encode",
        reason: fits
          ? "8-bit 4:2:0 H.264 plays everywhere" : "\(video.codec) \(video.pixelFormat) does not play everywhere"))
    let audio = facts.audio.map { AudioPlan(input: input, mode: mode(of: $0)) }
    return ClipPlan(
      role: role, input: input, mode: fits ? .remux : .encode,
      size: fits ? video.display : video.display.fitted(longEdge: output.longEdge), video: fits ? nil : output.video,
      audio: audio)
  }

  private func still(_ still: Definition.Still, role: Role, facts: [InputName: ClipFacts]) -> StillPlan {
    let input: InputName? =
      switch still.from {
      case .front: .front
      case .back: .back
      case .composed: nil
      }
    let full = input.flatMap { facts[$0]?.video.display } ?? definition.canvas.size
    return StillPlan(
      role: role, input: input, at: still.at, size: full.fitted(longEdge: still.longEdge), quality: still.quality)
  }

  // AAC-LC in one or two channels is what every player reads; the rest is decoded and encoded.
  private func mode(of audio: AudioFacts) -> AudioPlan.Mode {
    audio.codec == "aac" && audio.profile == "LC" && audio.channels <= 2 ? .copy : .encode
  }
}

extension Definition.Outputs {
  /// The pictures by role, in a fixed order.
  fileprivate var stills: [(Role, Definition.Still)] {
    [
      (Role.poster, poster), (.image, image), (.thumbnailFront, thumbnailFront), (.thumbnailBack, thumbnailBack),
    ].compactMap { role, still in still.map { (role, $0) } }
  }
}
