import Model
import Stills

extension IdentifyingMetadata {
  /// What a photo's metadata give away.
  static func found(in exif: Exif, _ segments: JPEGSegments? = nil) -> [IdentifyingMetadata] {
    var found = exif.identifying.map { IdentifyingMetadata(kind: Kind($0.kind), key: "Exif.\($0.name)") }
    guard let segments else { return found }
    if !segments.xmp.isEmpty {
      let text = String(decoding: segments.xmp, as: UTF8.self)
      found.append(IdentifyingMetadata(kind: text.contains("GPSLatitude") ? .place : .other, key: "XMP"))
    }
    if segments.hasResources { found.append(IdentifyingMetadata(kind: .other, key: "IPTC")) }
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
