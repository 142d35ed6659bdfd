import BoxTesting
import Definitions
import Glibc
import Media
import MediaFixtures
import Model
import Stills
import Testing

/// Photos of high dynamic range beside what they show in sRGB. Both systems' formulas stand here again, from the standards.
@Suite("Photos of high dynamic range", .tags(.media))
struct HighDynamicRangePhotoTests {
  /// A system of ITU-R BT.2100-2 by its code point in ITU-T H.273, with light in units of reference white, 203 cd/m².
  enum System: Int, CaseIterable, Sendable {
    case perceptualQuantizer = 16
    case hybridLogGamma = 18

    // Table 4.
    private static let m1: Double = 2610 / 16384
    private static let m2: Double = 2523 / 32
    private static let c1: Double = 3424 / 4096
    private static let c2: Double = 2413 / 128
    private static let c3: Double = 2392 / 128
    // Table 5, with the display's gamma for a grey.
    private static let a: Double = 0.17883277
    private static let b: Double = 0.28466892
    private static let c: Double = 0.55991073
    private static let gamma: Double = 1.2

    func signal(of light: Double) -> Double {
      switch self {
      case .perceptualQuantizer:
        let root = pow(light * 203 / 10_000, Self.m1)
        let ratio = (Self.c1 + Self.c2 * root) / (1 + Self.c3 * root)
        return pow(ratio, Self.m2)
      case .hybridLogGamma:
        let scene = pow(light * 203 / 1000, 1 / Self.gamma)
        return 12 * scene <= 1 ? (3 * scene).squareRoot() : Self.a * log(12 * scene - Self.b) + Self.c
      }
    }

    func light(of signal: Double) -> Double {
      switch self {
      case .perceptualQuantizer:
        let root = pow(signal, 1 / Self.m2)
        let ratio = max(root - Self.c1, 0) / (Self.c2 - Self.c3 * root)
        return 10_000 * pow(ratio, 1 / Self.m1) / 203
      case .hybridLogGamma:
        let scene = signal <= 0.5 ? signal * signal / 3 : (exp((signal - Self.c) / Self.a) + Self.b) / 12
        return 1000 * pow(scene, Self.gamma) / 203
      }
    }
  }

  /// IEC 61966-2-1.
  private static func light(_ code: Int) -> Double {
    let signal = Double(code) / 255
    return signal <= 0.04045 ? signal / 12.92 : pow((signal + 0.055) / 1.055, 2.4)
  }

  private static func code(_ light: Double) -> Double {
    255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)
  }

  /// The codes below the knee of the tone curve, which starts at a light of 0.7.
  private static let knee = 218

  /// A PNG of 16 bits whose columns of eight pixels have the greys of sRGB in a system, under an alpha.
  private static func png(
    _ system: System, alpha: Int = 255, width: Int = 8 * 256, height: Int = 8, isInterlaced: Bool = false
  ) -> [UInt8] {
    var bytes = PhotoFixture.png(width: width, height: height, bits: 16, isInterlaced: isInterlaced) { x, _ in
      let sample = UInt16((system.signal(of: light(x / 8)) * 65535).rounded())
      return [sample, sample, sample, UInt16(257 * alpha)]
    }
    // Behind the header: BT.2020, RGB in full range (PNG 3, 11.3.2.6).
    bytes.insert(contentsOf: PhotoFixture.chunk("cICP", [9, UInt8(system.rawValue), 0, 1]), at: 33)
    return bytes
  }

  private static let variants = [Role.photoLarge: PhotoVariant(longEdge: 2048, quality: 100)]

  @Test(
    "a PNG of 16 bits shows the greys of sRGB below the knee within a code, and keeps them apart",
    arguments: System.allCases)
  func ramp(system: System) throws {
    let image = try PhotoCase(Self.png(system), variants: Self.variants).decodedImage()
    let found = (0...Self.knee).map { image.pixel(8 * $0 + 4, 4) }
    for (code, color) in found.enumerated() {
      #expect(distance(color, SIMD3(repeating: code)) <= 1, "\(code) became \(color)")
    }
    #expect(Set(found.map(\.y)).count > Self.knee * 9 / 10)
    // Above, light is compressed.
    #expect((230...245).contains(image.pixel(8 * 255 + 4, 4).y))
  }

  @Test("transparent parts are laid on white after they are mapped", arguments: System.allCases, [0, 64, 128, 230])
  func transparentRamp(system: System, alpha: Int) throws {
    let image = try PhotoCase(Self.png(system, alpha: alpha), variants: Self.variants).decodedImage()
    for code in stride(from: 0, through: Self.knee, by: 6) {
      let expected = (code * alpha + 255 * (255 - alpha)) / 255
      let color = image.pixel(8 * code + 4, 4)
      #expect(distance(color, SIMD3(repeating: expected)) <= 2, "\(code) became \(color), not \(expected)")
    }
  }

  @Test(
    "an interlaced PNG is the same photo, also where some of its passes are empty", arguments: System.allCases,
    [(2048, 8, 255), (2048, 8, 128), (1999, 7, 255), (1, 1, 255), (3, 5, 64), (5, 1, 255), (1, 9, 255)])
  func interlaced(system: System, photo: (width: Int, height: Int, alpha: Int)) throws {
    let bytes = try [false, true].map { isInterlaced in
      let png = Self.png(
        system, alpha: photo.alpha, width: photo.width, height: photo.height, isInterlaced: isInterlaced)
      let run = try PhotoCase(png, variants: Self.variants)
      #expect(run.report.reason == nil && run.report.facts?.bits == 16)
      return try run.bytes(.photoLarge)
    }
    #expect(bytes[0] == bytes[1])
  }

  /// The greys of the ramp that are tried in lossy codings, side by side.
  private static let greys = [0, 5, 10, 20, 30, 40, 60, 100, 128, 160, 200, 218]

  /// A HEIC or AVIF of the greys in a system, with what they show after their codes are rounded to 8 bits.
  private static func heif(
    _ coding: HEIFTests.Coding, _ system: System, alpha: Int = 255, isPremultiplied: Bool = false
  ) throws -> (file: HEIFFile, expected: [Int]) {
    let codes = greys.map { Int((system.signal(of: light($0)) * 255).rounded()) }
    var file = try coding.file(
      PhotoFixture.image(width: 32 * greys.count, height: 64) { x, _ in
        let grey = UInt8(isPremultiplied ? (codes[x / 32] * alpha + 127) / 255 : codes[x / 32])
        return (grey, grey, grey)
      })
    file.items[0].properties.removeAll { $0[4..<8].elementsEqual("colr".utf8) }
    file.items[0].properties.append(box("colr", Array("nclx".utf8), [0, 9, 0, UInt8(system.rawValue), 0, 6, 0x80]))
    return (file, codes.map { Int(code(system.light(of: Double($0) / 255)).rounded()) })
  }

  @Test(
    "a HEIC or AVIF shows the greys of sRGB, but for what its coding loses", arguments: HEIFTests.Coding.all,
    System.allCases)
  func coded(coding: HEIFTests.Coding, system: System) throws {
    let (file, expected) = try Self.heif(coding, system)
    let image = try PhotoCase(file.bytes).decodedImage()
    for (index, grey) in expected.enumerated() {
      let found = image.pixel(32 * index + 16, 32)
      #expect(distance(found, SIMD3(repeating: grey)) <= 4, "\(Self.greys[index]) became \(found), not \(grey)")
    }
  }

  @Test(
    "so it does under an alpha channel, premultiplied or not", arguments: HEIFTests.Coding.all, [false, true])
  func codedTransparent(coding: HEIFTests.Coding, isPremultiplied: Bool) throws {
    let alpha = 180
    var (file, greys) = try Self.heif(
      coding, .perceptualQuantizer, alpha: alpha, isPremultiplied: isPremultiplied)
    let mask = PhotoFixture.image(width: 32 * greys.count, height: 64) { _, _ in
      (UInt8(alpha), UInt8(alpha), UInt8(alpha))
    }
    var item = try coding.file(mask).items[0]
    item.properties.append(auxiliaryType("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"))
    let id = file.add(item, ("auxl", [1]))
    if isPremultiplied { file.references.append(("prem", 1, [id])) }
    let run = try PhotoCase(file.bytes)
    #expect(run.report.facts?.hasAlpha == true && run.report.facts?.dynamicRange == .perceptualQuantizer)
    let image = try run.decodedImage()
    for (index, grey) in greys.enumerated() {
      let expected = (grey * alpha + 255 * (255 - alpha)) / 255
      let found = image.pixel(32 * index + 16, 32)
      #expect(distance(found, SIMD3(repeating: expected)) <= 6, "\(grey) became \(found), not \(expected)")
    }
  }
}
