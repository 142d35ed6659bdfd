import Glibc
import Model

/// The transfer function from a signal to light on a display, in units of reference white.
///
/// Reference white is the full SDR signal and 203 cd/m² in HDR (ITU-R BT.2408-7, 2.1). Mapping both to the same light
/// gives SDR and HDR clips the same brightness in one composition.
enum TransferFunction: Hashable, Sendable {
  /// SDR (ITU-R BT.1886).
  case standard
  /// Hybrid log-gamma on a display of 1000 cd/m² (ITU-R BT.2100-2, table 5).
  case hybridLogGamma
  /// Perceptual quantiser (ITU-R BT.2100-2, table 4).
  case perceptualQuantizer

  private static let referenceWhite = 203.0
  /// The peak luminance of the HDR reference display, in cd/m²; brighter light is clipped to it.
  private static let peak = 1000.0
  private static let standardGamma = 2.4

  init(_ range: DynamicRange) {
    switch range {
    case .standard: self = .standard
    case .hybridLogGamma: self = .hybridLogGamma
    case .perceptualQuantizer: self = .perceptualQuantizer
    }
  }

  /// The brightest light, in units of reference white.
  var brightest: Double { self == .standard ? 1 : Self.peak / Self.referenceWhite }

  /// The light of one component for a signal of 0 to 1; for HLG before the display's gamma, which depends on all three.
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

  /// The factor that the display applies to all three components, given their luminance.
  func displayGain(luminance: Double) -> Double {
    guard self == .hybridLogGamma else { return 1 }
    return luminance <= 0 ? 0 : pow(luminance, 0.2) * Self.peak / Self.referenceWhite
  }

  /// The SDR signal, 0 to 1, for a light.
  static func standardSignal(of light: Double) -> Double { pow(light, 1 / standardGamma) }
}

/// The tone curve that maps light beyond SDR's range into it.
///
/// Below a knee the curve is the identity, so that midtones keep the brightness that they have in an SDR clip of the
/// same scene. Above it the curve starts with the same slope and reaches 1 at the brightest light.
struct ToneCurve: Hashable, Sendable {
  private static let knee = 0.7
  private let brightest: Double
  private let bend: Double

  /// - Parameter brightest: the light that becomes 1, in units of reference white.
  init(brightest: Double) {
    self.brightest = brightest
    let steepness = (brightest - Self.knee) / (1 - Self.knee)
    bend = steepness > 1 ? 1 / (steepness - 1) : .infinity
  }

  /// The displayed light, 0 to 1, for a light.
  func shown(_ light: Double) -> Double {
    guard light > Self.knee, bend.isFinite else { return min(light, 1) }
    let position = min((light - Self.knee) / (brightest - Self.knee), 1)
    return Self.knee + (1 - Self.knee) * position * (1 + bend) / (position + bend)
  }
}
