import Glibc
import Model

/// What a signal's numbers mean as light on a display, in units of reference white.
///
/// Reference white is what a sheet of paper gives: all of an SDR signal, and 203 cd/m² of an HDR one (ITU-R BT.2408-7, 2.1).
/// With it in common, a picture of one kind neither glows nor greys beside one of the other.
enum TransferFunction: Hashable, Sendable {
  /// The display of SDR signals (ITU-R BT.1886).
  case standard
  /// Hybrid log-gamma on a display of 1000 cd/m² (ITU-R BT.2100-2, table 5).
  case hybridLogGamma
  /// Perceptual quantiser (ITU-R BT.2100-2, table 4).
  case perceptualQuantizer

  private static let referenceWhite = 203.0
  /// The display for which HDR is graded, in cd/m²; what is brighter is shown as bright as this.
  private static let peak = 1000.0
  private static let standardGamma = 2.4

  init(_ range: DynamicRange) {
    switch range {
    case .standard: self = .standard
    case .hybridLogGamma: self = .hybridLogGamma
    case .perceptualQuantizer: self = .perceptualQuantizer
    }
  }

  /// The brightest light that it can mean, in units of reference white.
  var brightest: Double { self == .standard ? 1 : Self.peak / Self.referenceWhite }

  /// The light of one component by itself, signal 0 to 1; for HLG before the display's gamma, which needs all three.
  func light(of signal: Double) -> Double {
    switch self {
    case .standard: return pow(signal, Self.standardGamma)
    case .hybridLogGamma:
      let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
      return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12
    case .perceptualQuantizer:
      let (m1, m2, c1, c2, c3) = (2610.0 / 16384, 2523.0 / 32, 3424.0 / 4096, 2413.0 / 128, 2392.0 / 128)
      let root = pow(signal, 1 / m2)
      let light = 10_000 * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
      return min(light, Self.peak) / Self.referenceWhite
    }
  }

  /// What the display makes of the three components' light together, given the light's luminance.
  func displayGain(luminance: Double) -> Double {
    guard self == .hybridLogGamma else { return 1 }
    return luminance <= 0 ? 0 : pow(luminance, 0.2) * Self.peak / Self.referenceWhite
  }

  /// The SDR signal, 0 to 1, that a display shows as this light.
  static func standardSignal(of light: Double) -> Double { pow(light, 1 / standardGamma) }
}
