extension Definition.Outputs {
  /// The roles of the outputs that the definition makes, in a fixed order.
  package var roles: [Role] {
    let made: [(Role, Bool)] = [
      (.composed, composed != nil), (.composedSwapped, composedSwapped != nil), (.clip, clip != nil),
      (.clipFront, clipFront != nil),
      (.clipBack, clipBack != nil),
      (.poster, poster != nil), (.image, image != nil), (.thumbnail, thumbnail != nil),
      (.thumbnailFront, thumbnailFront != nil),
      (.thumbnailBack, thumbnailBack != nil), (.preview, preview != nil),
    ]
    return made.filter(\.1).map(\.0)
  }
}

extension Definition {
  /// The roles of the outputs that a run of it makes from its inputs, in a fixed order.
  package var madeRoles: [Role] {
    let composes = inputs[.front] != nil && inputs[.back] != nil
    func canBeTaken(_ source: Still.Source) -> Bool {
      source.input.map { inputs[$0] != nil } ?? (composes && (outputs.composed ?? outputs.composedSwapped) != nil)
    }
    let clips = outputs.clips.filter { inputs[$0.1] != nil }.map(\.0)
    let stills = outputs.stills.filter { canBeTaken($0.1.from) }.map(\.0)
    let preview: [Role] = outputs.preview.map { canBeTaken($0.from) } ?? false ? [.preview] : []
    let made = Set((composes ? [.composed, .composedSwapped] : []) + clips + stills + preview)
    return outputs.roles.filter(made.contains)
  }
}
