import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("Damaged photos", .tags(.media))
struct PhotoDamageTests {
  static let formats = ["jpeg", "progressive", "png", "webp", "avif"]

  static func file(_ format: String) throws -> [UInt8] {
    let image = PhotoFixture.image(width: 96, height: 64) { x, y in
      (UInt8(x * 2), UInt8(y * 3), UInt8((x * y) % 256))
    }
    switch format {
    case "jpeg": return try PhotoFixture.jpeg(image, exif: PhotoFixture.exif(orientation: 6, hasPlace: true))
    case "progressive": return try JPEGEncoder(quality: 90).encode(image)
    case "png":
      return PhotoFixture.png(width: 96, height: 64) { x, y in [UInt16(x * 2), UInt16(y * 3), 7, UInt16(255 - y)] }
    case "webp": return try ImageEncoder.webp.encode(image, quality: 90)
    default: return try ImageEncoder.avif.encode(image, quality: 90)
    }
  }

  @Test("every beginning of a file is refused, or is what the whole is", arguments: formats)
  func beginnings(format: String) throws {
    let whole = try Self.file(format)
    let display = try PhotoCase(whole).report.facts?.display
    for count in stride(from: 0, to: whole.count, by: max(1, whole.count / 97)) {
      let report = try PhotoCase(Array(whole.prefix(count))).report
      // What is cut off behind the picture itself is no loss.
      #expect(report.reason != nil || (report.facts?.display == display && count > whole.count - 16), "\(count)")
      #expect(report.reason == nil || report.outputs.isEmpty)
    }
  }

  @Test("flipped bits never end the process", arguments: formats)
  func flips(format: String) throws {
    let whole = try Self.file(format)
    var state: UInt64 = 42
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<200 {
      var bytes = whole
      for _ in 0...next(4) { bytes[next(bytes.count)] ^= UInt8(1 << next(8)) }
      let run = Result { try PhotoCase(bytes, limits: PhotoCase.limits(pixels: 1 << 20)) }
      // A library that finds no memory for what a damaged header asks for is a failure, not a crash.
      if case .failure(let error) = run { #expect((error as? MediaError)?.kind == .outOfMemory, "\(error)") }
    }
  }
}
