import Kernels
import Model

extension Transform {
  /// The orientation of Exif data, 1 to 8 (TIFF 6.0, "Orientation").
  init(exif orientation: Int) {
    switch orientation {
    case 2: self.init(rotation: .none, mirrored: true)
    case 3: self.init(rotation: .half, mirrored: false)
    case 4: self.init(rotation: .half, mirrored: true)
    case 5: self.init(rotation: .threeQuarters, mirrored: true)
    case 6: self.init(rotation: .quarter, mirrored: false)
    case 7: self.init(rotation: .quarter, mirrored: true)
    case 8: self.init(rotation: .threeQuarters, mirrored: false)
    default: self = .identity
    }
  }

  /// As the kernels call it.
  var orientation: Orientation { Orientation(quarterTurns: rotation.rawValue / 90, mirroring: mirrored) }
}
