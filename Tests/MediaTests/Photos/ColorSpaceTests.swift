import MediaFixtures
import Model
import Stills
import Testing

/// What the samples of a JPEG are, by its segments and the ids of its components (JFIF 1.02; ITU-T T.872, 6.5.3).
@Suite("Colour spaces of JPEG", .tags(.media))
struct ColorSpaceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let samples: [UInt8]
    let ids: [UInt8]
    var isJFIF = false
    /// The transform in Adobe's segment; nil without one.
    var adobe: UInt8?
    let expected: SIMD3<Int>

    var segments: [[UInt8]] {
      (isJFIF ? [PhotoFixture.jfif] : []) + (adobe.map { [PhotoFixture.adobe(transform: $0)] } ?? [])
    }

    var testDescription: String {
      let marks = (isJFIF ? ["JFIF"] : []) + (adobe.map { ["Adobe \($0)"] } ?? [])
      return "\(samples.count) components, ids \(ids), \(marks.isEmpty ? "no segment" : marks.joined(separator: ", "))"
    }
  }

  // The colours that one set of samples is in each reading.
  private static let grey: [UInt8] = [150]
  private static let three: [UInt8] = [180, 90, 160]
  private static let four: [UInt8] = [200, 60, 150, 240]
  private static let rgb = SIMD3(180, 90, 160)
  // R = Y + 1.402 (Cr - 128), G = Y - 0.344136 (Cb - 128) - 0.714136 (Cr - 128), B = Y + 1.772 (Cb - 128).
  private static let ycbcr = SIMD3(225, 170, 113)
  // Each sample times K / 255: 255 means no ink.
  private static let cmyk = SIMD3(188, 56, 141)
  // The first three are YCbCr of the inks, whose reverse is what they print: R = 231, G = 208, B = 79; K = 240.
  private static let ycck = SIMD3(23, 44, 165)

  private static let numbers: [UInt8] = [1, 2, 3, 4]
  private static let letters: [UInt8] = Array("RGB".utf8)
  private static let inks: [UInt8] = Array("CMYK".utf8)

  static let cases = greys + colors + [numbers, inks].flatMap(printed)

  // One component is grey, whatever segments say.
  private static let greys = [
    Case(samples: grey, ids: [1], expected: SIMD3(repeating: 150)),
    Case(samples: grey, ids: [1], isJFIF: true, expected: SIMD3(repeating: 150)),
    Case(samples: grey, ids: [1], adobe: 0, expected: SIMD3(repeating: 150)),
    Case(samples: grey, ids: [1], adobe: 1, expected: SIMD3(repeating: 150)),
    Case(samples: grey, ids: [1], adobe: 2, expected: SIMD3(repeating: 150)),
    Case(samples: grey, ids: [1], isJFIF: true, adobe: 0, expected: SIMD3(repeating: 150)),
  ]

  private static let colors = [
    Case(samples: three, ids: [1, 2, 3], expected: ycbcr),
    Case(samples: three, ids: [0, 1, 2], expected: ycbcr),
    Case(samples: three, ids: letters, expected: rgb),
    Case(samples: three, ids: [1, 2, 3], isJFIF: true, expected: ycbcr),
    Case(samples: three, ids: letters, isJFIF: true, expected: ycbcr),
    Case(samples: three, ids: [1, 2, 3], adobe: 0, expected: rgb),
    Case(samples: three, ids: letters, adobe: 0, expected: rgb),
    Case(samples: three, ids: [1, 2, 3], adobe: 1, expected: ycbcr),
    Case(samples: three, ids: letters, adobe: 1, expected: ycbcr),
    // 2 means nothing for three components.
    Case(samples: three, ids: [1, 2, 3], adobe: 2, expected: ycbcr),
    // JFIF allows nothing else.
    Case(samples: three, ids: [1, 2, 3], isJFIF: true, adobe: 0, expected: ycbcr),
  ]

  private static func printed(_ ids: [UInt8]) -> [Case] {
    [
      Case(samples: four, ids: ids, expected: cmyk),
      Case(samples: four, ids: ids, isJFIF: true, expected: cmyk),
      Case(samples: four, ids: ids, adobe: 0, expected: cmyk),
      Case(samples: four, ids: ids, isJFIF: true, adobe: 0, expected: cmyk),
      Case(samples: four, ids: ids, adobe: 2, expected: ycck),
      Case(samples: four, ids: ids, isJFIF: true, adobe: 2, expected: ycck),
      // 1 means nothing for four components.
      Case(samples: four, ids: ids, adobe: 1, expected: ycck),
    ]
  }

  @Test("samples are read as the segments and the ids say", arguments: cases)
  func color(example: Case) throws {
    let photo = try PhotoFixture.jpeg(samples: example.samples, ids: example.ids, segments: example.segments)
    let run = try PhotoCase(photo)
    #expect(run.report.reason == nil)
    let found = try run.decodedImage().pixel(32, 24)
    #expect(distance(found, example.expected) <= 3, "\(found) instead of \(example.expected)")
  }

  @Test("without its segment a photo in inks is what it is with it", arguments: [numbers, inks])
  func stripped(ids: [UInt8]) throws {
    // White, a light grey, a red, and black.
    for samples: [UInt8] in [[255, 255, 255, 255], [240, 240, 240, 255], [255, 40, 40, 200], [9, 9, 9, 0]] {
      let with = try PhotoCase(
        PhotoFixture.jpeg(samples: samples, ids: ids, segments: [PhotoFixture.adobe(transform: 0)]))
      let without = try PhotoCase(PhotoFixture.jpeg(samples: samples, ids: ids))
      #expect(try without.bytes(.photoLarge) == with.bytes(.photoLarge), "\(samples)")
    }
  }
}
