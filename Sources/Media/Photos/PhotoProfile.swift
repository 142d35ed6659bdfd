import AV
import Kernels
import Model
import Platform
import Stills

/// The colour encoding of a photo, and its conversion to sRGB.
final class PhotoProfile {
  /// The name of the encoding; nil for sRGB, whether tagged or assumed.
  let name: String?
  let dynamicRange: DynamicRange
  private let profile: Profile
  private let primaries: Primaries
  private let matrix: ColorMatrix
  let isFullRange: Bool

  private enum Profile {
    case none
    case correction(ColorCorrection)
    case inks(ColorProfile)
    /// Primaries given by code points instead of a profile.
    case primaries
  }

  /// - Parameter bytes: an ICC profile; empty without one. A profile that cannot be used is ignored.
  convenience init(_ bytes: [UInt8]) {
    self.init(bytes, ColorCodePoints())
  }

  /// The encoding of an image that may have code points (ITU-T H.273) as well as a profile.
  convenience init(_ bytes: [UInt8], header: ImageHeader) {
    self.init(bytes, ColorCodePoints(header))
  }

  private init(_ bytes: [UInt8], _ given: ColorCodePoints) {
    // A profile of high dynamic range says so by code points: its tables have no tone curve.
    let inProfile = ColorCodePoints(profile: bytes).flatMap { $0.dynamicRange == .standard ? nil : $0 }
    let codes = inProfile ?? given
    primaries = codes.knownPrimaries
    matrix = codes.knownMatrix
    isFullRange = codes.isFullRange
    dynamicRange = codes.dynamicRange
    if !bytes.isEmpty, let entry = ProfileCache.shared.entry(for: bytes) {
      name = entry.name
      profile = entry.correction.map { .correction($0) } ?? .none
    } else if !bytes.isEmpty, let inks = try? ColorProfile(bytes), inks.space == .cmyk {
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

  /// Converts the colours of a decoded image to sRGB; returns the decisions.
  ///
  /// - Parameter isMapped: whether one of high dynamic range is mapped already.
  func apply(to image: PlanarImage, isMapped: Bool = false) -> [Decision] {
    guard dynamicRange == .standard else {
      if !isMapped { image.correct(ColorCorrection { rendering.converted($0, for: .photo) }) }
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
    image.correct(correction)
    return [Decision(.color, input: .photo, choice: "sRGB", reason: "its profile is \(name ?? "another one")")]
  }

  /// Converts CMYK, in which 255 means no ink, to 24-bit sRGB: by the profile, or without one by multiplying the inks.
  func convertInks(_ inks: UnsafePointer<UInt8>, into rgb: UnsafeMutablePointer<UInt8>, count: Int) {
    if case .inks(let profile) = profile { return profile.convert(inks, into: rgb, count: count) }
    for x in 0..<count {
      let light = Int(inks[4 * x + 3])
      for component in 0..<3 { rgb[3 * x + component] = UInt8(Int(inks[4 * x + component]) * light / 255) }
    }
  }

  /// The table that maps images of high dynamic range to 8-bit ones.
  var highDynamicRangeTable: ColorTable { rendering.table(for: .photo) }

  /// The mapping of red, green and blue between 0 and 1 of images of high dynamic range to sRGB.
  var highDynamicRangeMapping: SignalMapping { rendering.mapping(for: .photo) }

  private var rendering: ColorRendering {
    ColorRendering(
      transfer: TransferFunction(dynamicRange), primaries: primaries, matrix: matrix, isFullRange: isFullRange)
  }

  /// Converts 16-bit colours in these primaries, with sRGB's transfer function, to sRGB.
  private func standard(_ colors: [UInt16]) -> [UInt16] {
    let rows = primaries.toBT709
    var converted: [UInt16] = []
    converted.reserveCapacity(colors.count)
    for index in stride(from: 0, to: colors.count, by: 3) {
      let light = SIMD3(SRGB.light(colors[index]), SRGB.light(colors[index + 1]), SRGB.light(colors[index + 2]))
      for row in [rows.0, rows.1, rows.2] { converted.append(SRGB.code((row * light).sum())) }
    }
    return converted
  }
}

/// A cache of the ICC profiles that were read last: phones write the same few into all of their photos.
final class ProfileCache: Sendable {
  static let shared = ProfileCache()
  private static let maxEntries = 8

  /// An RGB or grey profile.
  struct Entry: Sendable {
    let name: String
    /// Nil if the profile is sRGB.
    let correction: ColorCorrection?
  }

  private let entries = Locked<[(profile: [UInt8], entry: Entry)]>([])

  /// The entry of a profile, made by LittleCMS the first time; nil for a CMYK profile, or one that cannot be used.
  func entry(for bytes: [UInt8]) -> Entry? {
    if let known = entries.withLock({ entries in entries.first { $0.profile == bytes }?.entry }) { return known }
    guard let profile = try? ColorProfile(bytes), profile.space == .rgb || profile.space == .grey else { return nil }
    let correction = profile.isSRGB ? nil : ColorCorrection { profile.convert($0) }
    let entry = Entry(name: profile.name, correction: correction)
    entries.withLock { entries in
      if entries.count == Self.maxEntries { entries.removeFirst() }
      entries.append((bytes, entry))
    }
    return entry
  }
}
