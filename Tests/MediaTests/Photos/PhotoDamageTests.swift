import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("Damaged photos", .tags(.media))
struct PhotoDamageTests {
  private static func limits(pixels: Int = 1 << 24) -> PhotoLimits {
    var limits = PhotoCase.limits(pixels: pixels)
    limits.formats = PhotoFormat.allCases
    return limits
  }

  @Test(
    "a truncated photo is refused, unless only bytes after the image are missing",
    arguments: PhotoFixture.formats + ["gif"])
  func beginnings(format: String) throws {
    let complete = try PhotoFixture.photo(in: format)
    let display = try PhotoCase(complete, limits: Self.limits()).report.facts?.display
    for count in stride(from: 0, to: complete.count, by: max(1, complete.count / 97)) {
      let report = try PhotoCase(Array(complete.prefix(count)), limits: Self.limits()).report
      // Bytes after the image data are not needed.
      #expect(report.reason != nil || (report.facts?.display == display && count > complete.count - 16), "\(count)")
      #expect(report.reason == nil || report.outputs.isEmpty)
    }
  }

  @Test("a HEIF or AVIF that is truncated anywhere is refused as truncated or corrupt", arguments: ["heic", "avif"])
  func everyBeginning(format: String) throws {
    let complete = try PhotoFixture.photo(in: format)
    // Sixteen bytes are needed to recognise the format.
    for count in 16..<complete.count {
      let code = try PhotoCase(Array(complete.prefix(count))).report.reason?.code
      #expect(code == .truncatedContainer || code == .corruptImage, "\(count): \(String(describing: code))")
    }
  }

  @Test("an excessive size in the header is refused before decoding", arguments: ["heic", "avif"])
  func claimedSize(format: String) throws {
    var bytes = try PhotoFixture.photo(in: format)
    let name = Array("ispe".utf8)
    for offset in 0..<(bytes.count - 16) where Array(bytes[offset..<offset + 4]) == name {
      bytes.replaceSubrange(offset + 8..<offset + 16, with: [UInt8](repeating: 0xFF, count: 8))
    }
    #expect(try PhotoCase(bytes).report.reason?.code == .tooLarge)
  }

  @Test("flipped bits do not crash the process", arguments: PhotoFixture.formats + ["gif"])
  func flips(format: String) throws {
    let complete = try PhotoFixture.photo(in: format)
    for seed in 0..<200 as Range<UInt64> {
      let bytes = PhotoFixture.damaged(complete, seed: seed)
      let run = Result { try PhotoCase(bytes, limits: Self.limits(pixels: 1 << 20)) }
      // A failed allocation of the size in a damaged header is an error, not a crash.
      if case .failure(let error) = run { #expect((error as? MediaError)?.kind == .outOfMemory, "\(error)") }
    }
  }
}
