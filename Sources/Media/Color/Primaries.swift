import Model

/// Which red, green and blue a picture's numbers are mixed of (ITU-T H.273, table 2).
enum Primaries: Hashable, Sendable {
  /// Those of HDTV. The ones of the older standards are so near that no player tells them apart.
  case bt709
  /// Of UHDTV.
  case bt2020
  /// Display P3, with the white of daylight.
  case p3

  init(_ color: ColorFacts) {
    switch color.primaries {
    case "bt2020": self = .bt2020
    case "smpte432", "smpte431": self = .p3
    default: self = .bt709
    }
  }

  /// Linear light in these primaries as light in those of BT.709, row by row; components outside of them are negative.
  var toBT709: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>) {
    switch self {
    case .bt709: (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))
    // ITU-R BT.2407-0, annex 2.
    case .bt2020:
      (SIMD3(1.6605, -0.5876, -0.0728), SIMD3(-0.1246, 1.1329, -0.0083), SIMD3(-0.0182, -0.1006, 1.1187))
    // From the chromaticities of SMPTE EG 432-1 with D65.
    case .p3:
      (SIMD3(1.2249, -0.2247, 0), SIMD3(-0.0420, 1.0419, 0), SIMD3(-0.0197, -0.0786, 1.0979))
    }
  }

  /// The share of each component in luminance.
  var luminance: SIMD3<Double> {
    switch self {
    case .bt709: SIMD3(0.2126, 0.7152, 0.0722)
    case .bt2020: SIMD3(0.2627, 0.6780, 0.0593)
    case .p3: SIMD3(0.2290, 0.6917, 0.0793)
    }
  }
}
