internal import Model

/// A picture beside the video, as a filter graph makes it.
struct StillOutput {
  let role: Role
  let still: Definition.Still
  /// Of the stream in the graph that the picture is.
  let label: String
  let size: Size

  /// All of a definition.
  static func all(of definition: Definition) -> [StillOutput] {
    let outputs = definition.outputs
    let made: [(Role, Definition.Still?, String)] = [
      (.poster, outputs.poster, "po"), (.thumbnailFront, outputs.thumbnailFront, "ft"),
      (.thumbnailBack, outputs.thumbnailBack, "bt"),
    ]
    return made.compactMap { role, still, label in
      still.map {
        StillOutput(role: role, still: $0, label: label, size: definition.canvas.size.fitted(longEdge: $0.longEdge))
      }
    }
  }
}
