import AV
import Kernels
import Model
import Stills

/// What a photo's numbers mean as colours, and the way from there to sRGB.
final class PhotoProfile {
  /// What it is called; nil: sRGB, said or not.
  let name: String?
  let dynamicRange: DynamicRange
  private let profile: Profile
  private let primaries: Primaries
  private let matrix: ColorMatrix
  private let isFullRange: Bool

  private enum Profile {
    case none
    case correction(ColorCorrection)
    case inks(ColorProfile)
    /// Code points alone.
    case primaries
  }

  /// - Parameter bytes: an ICC profile; empty where there is none. One that cannot be used counts as none.
  convenience init(_ bytes: [UInt8], isInverted: Bool = false) {
    self.init(bytes, isInverted: isInverted, primaries: .bt709, range: .standard, matrix: .bt601, isFullRange: true)
  }

  /// Of a picture that may say it by code points too (ITU-T H.273).
  convenience init(_ bytes: [UInt8], header: ImageHeader) {
    let primaries: Primaries =
      switch header.primaries {
      case 9: .bt2020
      case 11, 12: .p3
      default: .bt709
      }
    let range: DynamicRange =
      switch header.transfer {
      case 16: .perceptualQuantizer
      case 18: .hybridLogGamma
      default: .standard
      }
    let matrix: ColorMatrix =
      switch header.matrix {
      case 1: .bt709
      case 9, 10: .bt2020
      default: .bt601
      }
    self.init(
      bytes, isInverted: false, primaries: primaries, range: range, matrix: matrix, isFullRange: header.isFullRange)
  }

  private init(
    _ bytes: [UInt8], isInverted: Bool, primaries: Primaries, range: DynamicRange, matrix: ColorMatrix,
    isFullRange: Bool
  ) {
    self.primaries = primaries
    self.matrix = matrix
    self.isFullRange = isFullRange
    dynamicRange = range
    if !bytes.isEmpty, let entry = ProfileCache.shared.entry(for: bytes) {
      name = entry.name
      profile = entry.correction.map { .correction($0) } ?? .none
    } else if !bytes.isEmpty, let inks = try? ColorProfile(bytes, isInverted: isInverted), inks.space == .cmyk {
      name = inks.name
      profile = .inks(inks)
    } else if primaries != .bt709 {
      name = primaries == .p3 ? "Display P3" : "BT.2020"
      profile = .primaries
    } else {
      name = nil
      profile = .none
    }
  }

  /// Brings a decoded picture's colours into sRGB; says what was done.
  func apply(to picture: PlanarImage) -> [Decision] {
    guard dynamicRange == .standard else {
      return [
        Decision(
          .color, input: .photo, choice: "tone-mapped, reference white at the white of SDR",
          reason: "it is \(dynamicRange.rawValue.uppercased())")
      ]
    }
    let correction: ColorCorrection
    switch profile {
    case .none, .inks: return []
    case .primaries: correction = ColorCorrection { standard($0) }
    case .correction(let known): correction = known
    }
    picture.correct(correction)
    return [Decision(.color, input: .photo, choice: "sRGB", reason: "its profile is \(name ?? "another")")]
  }

  /// Printing inks as 24-bit sRGB: by their profile, or else as inks that multiply.
  func convertInks(
    _ inks: UnsafePointer<UInt8>, into rgb: UnsafeMutablePointer<UInt8>, count: Int, isInverted: Bool
  ) {
    if case .inks(let profile) = profile { return profile.convert(inks, into: rgb, count: count) }
    for x in 0..<count {
      let flip: UInt8 = isInverted ? 0 : 255
      let light = Int(inks[4 * x + 3] ^ flip)
      for component in 0..<3 { rgb[3 * x + component] = UInt8(Int(inks[4 * x + component] ^ flip) * light / 255) }
    }
  }

  /// How pictures of high dynamic range become 8-bit ones.
  func highDynamicRangeTable(height: Int) -> ColorTable {
    ColorRendering(
      transfer: TransferFunction(dynamicRange), primaries: primaries, matrix: matrix, isFullRange: isFullRange
    ).table(ColorRendering.photoCodes)
  }

  /// 16-bit colours in these primaries, with the transfer of sRGB, as sRGB.
  private func standard(_ colors: [UInt16]) -> [UInt16] {
    let rows = primaries.toBT709
    var converted: [UInt16] = []
    converted.reserveCapacity(colors.count)
    for at in stride(from: 0, to: colors.count, by: 3) {
      let light = SIMD3(SRGB.light(colors[at]), SRGB.light(colors[at + 1]), SRGB.light(colors[at + 2]))
      for row in [rows.0, rows.1, rows.2] { converted.append(SRGB.code((row * light).sum())) }
    }
    return converted
  }
}
