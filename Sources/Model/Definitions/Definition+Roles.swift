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
