/// One of the eight orientations of an image: mirrored left to right or not, then rotated clockwise.
package enum Orientation: Hashable, Sendable, CaseIterable {
  case upright, rotated90, rotated180, rotated270
  case mirrored, mirroredRotated90, mirroredRotated180, mirroredRotated270

  /// The transform that mirrors left to right if `mirroring` is set, and then rotates by clockwise quarter turns.
  package init(quarterTurns: Int, mirroring: Bool = false) {
    let turns = ((quarterTurns % 4) + 4) % 4
    self = Orientation.allCases[mirroring ? turns + 4 : turns]
  }

  /// The number of clockwise quarter turns after mirroring, 0 to 3.
  package var quarterTurns: Int {
    switch self {
    case .upright, .mirrored: 0
    case .rotated90, .mirroredRotated90: 1
    case .rotated180, .mirroredRotated180: 2
    case .rotated270, .mirroredRotated270: 3
    }
  }

  /// Whether the image is mirrored left to right before the rotation.
  package var isMirrored: Bool {
    switch self {
    case .upright, .rotated90, .rotated180, .rotated270: false
    case .mirrored, .mirroredRotated90, .mirroredRotated180, .mirroredRotated270: true
    }
  }

  /// The inverse transform. A mirrored transform is its own inverse.
  package var inverse: Orientation {
    isMirrored ? self : Orientation(quarterTurns: -quarterTurns)
  }

  /// The composition of this transform and then `next`.
  package func followed(by next: Orientation) -> Orientation {
    // Mirroring after a rotation equals mirroring before the opposite rotation.
    let turns = next.isMirrored ? next.quarterTurns - quarterTurns : next.quarterTurns + quarterTurns
    return Orientation(quarterTurns: turns, mirroring: isMirrored != next.isMirrored)
  }

  /// The size of an image of `width` x `height` after this transform.
  package func size(width: Int, height: Int) -> (width: Int, height: Int) {
    quarterTurns % 2 == 1 ? (height, width) : (width, height)
  }
}
