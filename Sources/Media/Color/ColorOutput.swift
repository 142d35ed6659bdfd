import Glibc
import Kernels

/// The encoding of the colours of outputs; both have the primaries of BT.709.
enum ColorOutput: Hashable, Sendable {
  /// Clips and compositions: BT.709 in limited range, whose signals a display shows by BT.1886.
  case video
  /// Photos: sRGB in full range, as in JPEG files.
  case photo

  /// The signal, 0 to 1, for a light of 0 to 1.
  func signal(of light: Double) -> Double {
    switch self {
    case .video: TransferFunction.standardSignal(of: light)
    case .photo: SRGB.signal(of: light)
    }
  }

  /// The 8-bit codes of red, green and blue between 0 and 1.
  func codes(of signal: SIMD3<Double>) -> ColorTable.Codes {
    switch self {
    // ITU-R BT.709-6, items 3.2 to 3.5.
    case .video:
      let luma = (signal * Primaries.bt709.luminance).sum()
      return ColorTable.Codes(
        y: 16 + 219 * luma, u: 128 + 224 * (signal.z - luma) / 1.8556, v: 128 + 224 * (signal.x - luma) / 1.5748)
    // JFIF 1.02.
    case .photo:
      let luma = (signal * SIMD3(0.299, 0.587, 0.114)).sum()
      return ColorTable.Codes(
        y: 255 * luma, u: 128 + 255 * (signal.z - luma) / 1.772, v: 128 + 255 * (signal.x - luma) / 1.402)
    }
  }
}

/// The transfer function of sRGB (IEC 61966-2-1).
enum SRGB {
  /// The light of a 16-bit code, 0 to 1.
  static func light(_ code: UInt16) -> Double {
    let signal = Double(code) / 65535
    return signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
  }

  /// The signal, 0 to 1, of a light of 0 to 1.
  static func signal(of light: Double) -> Double {
    light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
  }

  /// The 16-bit code of light, clamped to 0 to 1.
  static func code(_ light: Double) -> UInt16 { UInt16((signal(of: min(max(light, 0), 1)) * 65535).rounded()) }
}
