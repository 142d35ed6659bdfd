import ISOBaseMedia
import Kernels
import Model

extension HEIFProperties {
  /// How the coded picture becomes upright.
  var transform: Transform {
    let orientation = steps.reduce(Orientation.upright) { orientation, step in
      switch step {
      case .turn(let quarters): orientation.followed(by: Orientation(quarterTurns: -quarters))
      case .mirror(let isLeftRight):
        orientation.followed(by: isLeftRight ? .mirrored : .mirroredRotated180)
      }
    }
    return Transform(
      rotation: Transform.Rotation(rawValue: orientation.quarterTurns * 90) ?? .none, mirrored: orientation.isMirrored)
  }
}
