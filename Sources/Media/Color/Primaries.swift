import Model

/// The colour primaries of frames and photos (ITU-T H.273, table 2).
enum Primaries: Hashable, Sendable {
  /// HDTV. Those of SDTV are so close that players do not distinguish them.
  case bt709
  /// UHDTV.
  case bt2020
  /// Display P3, with the white point D65.
  case p3

  init(_ color: ColorFacts) {
    switch color.primaries {
    case "bt2020": self = .bt2020
    case "smpte432", "smpte431": self = .p3
    default: self = .bt709
    }
  }

  /// The matrix, by rows, from linear light in these primaries to BT.709; components outside its gamut become negative.
  var toBT709: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>) {
    switch self {
    case .bt709: (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))
    // From the chromaticities of ITU-R BT.2020-2 and BT.709-6: the four digits in BT.2407-0 are too few for components
    // near zero.
    case .bt2020:
      (
        SIMD3(1.660491, -0.587641, -0.072850), SIMD3(-0.124550, 1.132900, -0.008350),
        SIMD3(-0.018151, -0.100579, 1.118730)
      )
    // From the chromaticities of SMPTE EG 432-1 with D65.
    case .p3:
      (SIMD3(1.224940, -0.224940, 0), SIMD3(-0.042057, 1.042057, 0), SIMD3(-0.019638, -0.078636, 1.098274))
    }
  }

  /// The weight of each component in luminance.
  var luminance: SIMD3<Double> {
    switch self {
    case .bt709: SIMD3(0.2126, 0.7152, 0.0722)
    case .bt2020: SIMD3(0.2627, 0.6780, 0.0593)
    case .p3: SIMD3(0.2290, 0.6917, 0.0793)
    }
  }
}
