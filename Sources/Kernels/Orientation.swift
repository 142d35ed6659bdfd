/// One of the eight ways to lay a picture onto the pixel grid: mirrored left to right or not, then turned clockwise.
package enum Orientation: Hashable, Sendable, CaseIterable {
  case upright, rotated90, rotated180, rotated270
  case mirrored, mirroredRotated90, mirroredRotated180, mirroredRotated270

  /// The transform that mirrors left to right if asked, and then turns clockwise by quarter turns (any whole number).
  package init(quarterTurns: Int, mirroring: Bool = false) {
    let turns = ((quarterTurns % 4) + 4) % 4
    self = Orientation.allCases[mirroring ? turns + 4 : turns]
  }

  /// Clockwise quarter turns, 0 to 3, after mirroring.
  package var quarterTurns: Int {
    switch self {
    case .upright, .mirrored: 0
    case .rotated90, .mirroredRotated90: 1
    case .rotated180, .mirroredRotated180: 2
    case .rotated270, .mirroredRotated270: 3
    }
  }

  /// Whether left and right are exchanged before the turn.
  package var isMirrored: Bool {
    switch self {
    case .upright, .rotated90, .rotated180, .rotated270: false
    case .mirrored, .mirroredRotated90, .mirroredRotated180, .mirroredRotated270: true
    }
  }

  /// Whether width and height change places.
  package var exchangesAxes: Bool { quarterTurns % 2 == 1 }

  /// The transform that undoes this one; mirrored ones undo themselves.
  package var inverse: Orientation {
    isMirrored ? self : Orientation(quarterTurns: -quarterTurns)
  }

  /// This transform first, `next` after it.
  package func followed(by next: Orientation) -> Orientation {
    // Mirroring after a turn equals mirroring before the opposite turn.
    let turns = next.isMirrored ? next.quarterTurns - quarterTurns : next.quarterTurns + quarterTurns
    return Orientation(quarterTurns: turns, mirroring: isMirrored != next.isMirrored)
  }

  /// The size that a picture of `width` x `height` takes on.
  package func size(width: Int, height: Int) -> (width: Int, height: Int) {
    exchangesAxes ? (height, width) : (width, height)
  }
}
