internal import CImages

/// An ICC profile with the transform from its colours to sRGB, by Little CMS.
package final class ColorProfile {
  /// The colour space of the device.
  package enum Space: Sendable {
    case grey, rgb, cmyk, other
  }

  package let space: Space
  /// The description in the profile; empty if there is none.
  package let name: String
  private let transform: OpaquePointer

  /// The maximum size of a profile; profiles of printers have up to three megabytes.
  private static let maxBytes = 4 << 20

  package init(_ bytes: [UInt8]) throws(ImageError) {
    guard bytes.count <= Self.maxBytes else {
      throw .unsupported("the colour profile has more than \(Self.maxBytes) bytes")
    }
    var failure = cimages_failure()
    var found = cimages_space_other
    var title = [CChar](repeating: 0, count: 100)
    var opened: OpaquePointer?
    guard
      cimages_open_transform(bytes, bytes.count, &opened, &found, &title, &failure) == cimages_ok,
      let opened
    else { throw ImageError(failure) }
    transform = opened
    name = String(decoding: title.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    space =
      switch found {
      case cimages_space_grey: .grey
      case cimages_space_rgb: .rgb
      case cimages_space_cmyk: .cmyk
      default: .other
      }
  }

  deinit { cimages_close_transform(transform) }

  /// Whether the transform changes no colour by more than one 8-bit code: profiles of sRGB have many names.
  package var isSRGB: Bool {
    guard space == .rgb || space == .grey else { return false }
    let levels: [UInt16] = [0, 16384, 32768, 49152, 65535]
    let colors =
      space == .rgb
      ? levels.flatMap { r in levels.flatMap { g in levels.flatMap { b in [r, g, b] } } }
      : levels.flatMap { [$0, $0, $0] }
    return zip(colors, convert(colors)).allSatisfy { abs(Int($0) - Int($1)) <= 257 }
  }

  /// Converts 8-bit CMYK pixels, in which 255 means no ink, to 24-bit sRGB.
  package func convert(
    _ source: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    cimages_transform8(transform, source, target, count)
  }

  /// Converts 16-bit RGB to 16-bit sRGB. With a grey profile, red is the grey level.
  package func convert(_ colors: [UInt16]) -> [UInt16] {
    precondition(space == .rgb || space == .grey, "the profile is neither RGB nor grey")
    let source = space == .rgb ? colors : stride(from: 0, to: colors.count, by: 3).map { colors[$0] }
    return [UInt16](unsafeUninitializedCapacity: colors.count) { buffer, count in
      cimages_transform16(transform, source, buffer.baseAddress, colors.count / 3)
      count = colors.count
    }
  }
}
