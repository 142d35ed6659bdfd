/// Something that can be filmed.
package protocol Scene: Sendable {
  /// What is the same for all pixels of one picture.
  associatedtype Shot: SyntheticMedia.Shot
  /// The scene at a time in seconds.
  func shot(at time: Float) -> Shot
}

/// One picture of a scene as a function of the position in it.
package protocol Shot: Sendable {
  /// The colour at a point: `x` from 0 at the left to 1 at the right edge, `y` downwards in the same unit.
  func color(_ x: Float, _ y: Float) -> Color
}
