extension Definition {
  /// All that is wrong with it, in the order of its keys.
  package var faults: [DefinitionFault] {
    var faults = DefinitionFaults()
    faults.require(version, in: .version, "version")
    faults.require(deadlineSeconds, in: .deadline, "deadline_seconds")
    let names = Set(inputs.keys)
    faults.require(
      names == [.front, .back] || names == [.clip], "inputs", "expected front and back, or clip alone")
    limits.addFaults(to: &faults, isPair: names.count > 1)
    faults.require(moment?.recordedSeconds, in: .recorded, "moment.recorded_seconds")
    canvas.addFaults(to: &faults)
    for role in outputs.roles { addFaults(of: role, to: &faults) }
    return faults.all
  }

  private func addFaults(of role: Role, to faults: inout DefinitionFaults) {
    let path = "outputs.\(role.rawValue)"
    switch outputs[role] {
    case .composed(let output):
      addFaults(of: output, path, to: &faults)
      output.video.addFaults("\(path).video", to: &faults)
    case .rendition(let output):
      faults.require(output.longEdge, in: .outputEdge, "\(path).long_edge")
      output.video.addFaults("\(path).video", to: &faults)
    case .clip(let output):
      faults.require(output.longEdge, in: .outputEdge, "\(path).long_edge")
      faults.require(output.framesPerSecond, in: .outputRate, "\(path).frames_per_second")
      output.video.addFaults("\(path).video", to: &faults)
    case .still(let output):
      faults.require(output.at, in: .time, "\(path).at")
      faults.require(output.longEdge, in: .outputEdge, "\(path).long_edge")
    case .preview(let output):
      faults.require(output.at, in: .time, "\(path).at")
      faults.require(output.seconds, in: .previewSeconds, "\(path).seconds")
      faults.require(output.framesPerSecond, in: .previewRate, "\(path).frames_per_second")
      faults.require(output.longEdge, in: .outputEdge, "\(path).long_edge")
    case nil: break
    }
  }

  private func addFaults(of output: Composed, _ path: String, to faults: inout DefinitionFaults) {
    faults.require(output.seconds.longest, in: .duration, "\(path).seconds[1]")
    faults.require(
      output.seconds.shortest * Double(canvas.framesPerSecond) >= 1, "\(path).seconds[0]",
      "the shortest composition has no frame at \(canvas.framesPerSecond) frames per second: write a longer time")
    if let used = limits.usedSeconds {
      faults.require(
        output.seconds.shortest <= used.longest, "\(path).seconds[0]",
        "every moment would be refused: expected at most \(NumberRange.text(used.longest)), as 'limits' has it")
    }
    guard output.layout == .inset else { return }
    let inset = output.inset
    let box = output.insetBox(on: canvas)
    let shorter = min(box.width, box.height)
    faults.require(
      shorter >= 16, "\(path).inset.width", "the inset has \(box.width)x\(box.height) pixels: expected at least 16x16")
    faults.require(
      box.width + inset.margin <= canvas.width && box.height + inset.margin <= canvas.height, "\(path).inset",
      "the inset of \(box.width)x\(box.height) pixels leaves the canvas: write a smaller margin or width")
    guard let border = inset.border?.width else { return }
    // An odd width is drawn as the even one below it, which of 1 is none.
    faults.require(border != 1, "\(path).inset.border.width", "a border has at least 2 pixels: write 2, or 0 for none")
    // With the fit 'fit' the inset has the shape of the clip, such as a third of the height of its box.
    let side = canvas.fit == .fit ? shorter / 3 : shorter
    faults.require(
      2 * border + 16 <= side, "\(path).inset.border.width",
      "the border leaves no room in the inset of \(box.width)x\(box.height) pixels: write a smaller one")
  }
}

extension Limits {
  /// - Parameter isPair: whether the durations of two clips are compared.
  fileprivate func addFaults(to faults: inout DefinitionFaults, isPair: Bool) {
    faults.require(seconds != nil, "limits.seconds", "expected [min, max] in seconds: outputs need clips that end")
    faults.require(seconds?.longest, in: .duration, "limits.seconds[1]")
    faults.require(trimSeconds, in: .duration, "limits.trim_seconds")
    faults.require(Double(bytes), in: .clipBytes, "limits.bytes")
    faults.require(pixels, in: .cameraPixels, "limits.pixels")
    faults.require(framesPerSecond, in: .cameraRate, "limits.frames_per_second")
    faults.require(streams, in: .streams, "limits.streams")
    faults.require(!containers.isEmpty, "limits.containers", "every file would be refused: name a container")
    faults.require(!videoCodecs.isEmpty, "limits.video_codecs", "every file would be refused: name a codec")
    if isPair { faults.require(differenceSeconds, in: .difference, "limits.difference_seconds") }
  }
}

extension Definition.Canvas {
  /// As many pixels as a frame of 4K has, in any shape: more do not fit into the memory of a media process.
  private static let maxPixels = 3840 * 2160

  fileprivate func addFaults(to faults: inout DefinitionFaults) {
    for (name, edge) in [("width", width), ("height", height)] {
      faults.require(edge, in: .canvasEdge, "canvas.\(name)")
      faults.require(edge.isMultiple(of: 2), "canvas.\(name)", "\(edge) is odd: H.264 needs an even number")
    }
    faults.require(
      width * height <= Self.maxPixels, "canvas", "\(width)x\(height) are more than \(Self.maxPixels) pixels")
    faults.require(framesPerSecond, in: .outputRate, "canvas.frames_per_second")
  }
}
