import Glibc

/// The transfer of sRGB (IEC 61966-2-1).
enum SRGB {
  /// The light of a 16-bit code, 0 to 1.
  static func light(_ code: UInt16) -> Double {
    let signal = Double(code) / 65535
    return signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
  }

  /// The 16-bit code of light; what lies outside of 0 to 1 is cut off.
  static func code(_ light: Double) -> UInt16 {
    let light = min(max(light, 0), 1)
    let signal = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt16((signal * 65535).rounded())
  }
}
