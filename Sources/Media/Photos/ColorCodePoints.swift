import AV
import Model
import Stills

/// The encoding of colours by code points (ITU-T H.273).
struct ColorCodePoints: Hashable, Sendable {
  private var primaries = 2
  private var transfer = 2
  private var matrix = 2
  private(set) var isFullRange = true

  /// Unspecified code points.
  init() {}

  init(_ header: ImageHeader) {
    (primaries, transfer, matrix) = (header.primaries, header.transfer, header.matrix)
    isFullRange = header.isFullRange
  }

  /// The code points in an ICC profile (ICC.1:2022, 9.2.17); nil if there are none.
  init?(profile bytes: [UInt8]) {
    func number(_ offset: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - 4 else { return nil }
      return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    let (header, entry) = (128, 12)
    guard let count = number(header) else { return nil }
    let tags = (0..<min(count, 100)).map { header + 4 + $0 * entry }
    guard let tag = tags.first(where: { number($0) == 0x6369_6370 }), let start = number(tag + 4),
      let codes = number(start + 8)
    else { return nil }
    (primaries, transfer, matrix) = (codes >> 24, codes >> 16 & 255, codes >> 8 & 255)
    isFullRange = codes & 255 != 0
  }

  var dynamicRange: DynamicRange {
    switch transfer {
    case 16: .perceptualQuantizer
    case 18: .hybridLogGamma
    default: .standard
    }
  }

  /// The primaries; HDTV's if they are others, or not given.
  var knownPrimaries: Primaries {
    switch primaries {
    case 9: .bt2020
    case 11, 12: .p3
    default: .bt709
    }
  }

  /// The matrix; JPEG's if it is another one, or not given.
  var knownMatrix: ColorMatrix {
    switch matrix {
    case 1: .bt709
    case 9, 10: .bt2020
    default: .bt601
    }
  }
}
