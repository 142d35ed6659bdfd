import ISOBaseMedia
import Kernels
import Model
import Stills

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

  /// The same transform for the kernels.
  var orientation: Orientation { Orientation(quarterTurns: rotation.rawValue / 90, mirroring: mirrored) }
}

extension HEIFProperties {
  /// The transform that makes the coded image upright.
  var transform: Transform {
    let orientation = steps.reduce(Orientation.upright) { orientation, step in
      switch step {
      case .rotate(let quarters): orientation.followed(by: Orientation(quarterTurns: -quarters))
      case .mirror(let isLeftRight):
        orientation.followed(by: isLeftRight ? .mirrored : .mirroredRotated180)
      }
    }
    return Transform(
      rotation: Transform.Rotation(rawValue: orientation.quarterTurns * 90) ?? .none, mirrored: orientation.isMirrored)
  }
}

extension IdentifyingMetadata {
  /// The identifying metadata of a photo.
  static func found(in exif: Exif, _ segments: JPEGSegments? = nil) -> [IdentifyingMetadata] {
    var found = exif.identifying.map { IdentifyingMetadata(kind: Kind($0.kind), key: "Exif.\($0.name)") }
    guard let segments else { return found }
    if !segments.xmp.isEmpty {
      let text = String(decoding: segments.xmp, as: UTF8.self)
      found.append(IdentifyingMetadata(kind: text.contains("GPSLatitude") ? .place : .other, key: "XMP"))
    }
    if segments.hasPhotoshopResources { found.append(IdentifyingMetadata(kind: .other, key: "IPTC")) }
    return found
  }
}

extension IdentifyingMetadata.Kind {
  fileprivate init(_ kind: Exif.Kind) {
    self =
      switch kind {
      case .place: .place
      case .device: .device
      case .person: .person
      case .other: .other
      }
  }
}
