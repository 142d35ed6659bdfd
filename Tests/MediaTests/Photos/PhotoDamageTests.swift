import Media
import MediaFixtures
import Model
import Stills
import Testing

@Suite("Damaged photos", .tags(.media))
struct PhotoDamageTests {
  @Test("every beginning of a file is refused, or is what the whole is", arguments: PhotoFixture.formats)
  func beginnings(format: String) throws {
    let whole = try PhotoFixture.photo(in: format)
    let display = try PhotoCase(whole).report.facts?.display
    for count in stride(from: 0, to: whole.count, by: max(1, whole.count / 97)) {
      let report = try PhotoCase(Array(whole.prefix(count))).report
      // What is cut off behind the picture itself is no loss.
      #expect(report.reason != nil || (report.facts?.display == display && count > whole.count - 16), "\(count)")
      #expect(report.reason == nil || report.outputs.isEmpty)
    }
  }

  @Test("a HEIF or AVIF that is cut off anywhere is refused as cut off or damaged", arguments: ["heic", "avif"])
  func everyBeginning(format: String) throws {
    let whole = try PhotoFixture.photo(in: format)
    // Sixteen bytes are needed to tell the format.
    for count in 16..<whole.count {
      let code = try PhotoCase(Array(whole.prefix(count))).report.reason?.code
      #expect(code == .truncatedContainer || code == .corruptImage, "\(count): \(String(describing: code))")
    }
  }

  @Test("a size that the header alone claims is refused before anything is decoded", arguments: ["heic", "avif"])
  func claimedSize(format: String) throws {
    var bytes = try PhotoFixture.photo(in: format)
    let name = Array("ispe".utf8)
    for at in 0..<(bytes.count - 16) where Array(bytes[at..<at + 4]) == name {
      bytes.replaceSubrange(at + 8..<at + 16, with: [UInt8](repeating: 0xFF, count: 8))
    }
    #expect(try PhotoCase(bytes).report.reason?.code == .tooLarge)
  }

  @Test("flipped bits never end the process", arguments: PhotoFixture.formats)
  func flips(format: String) throws {
    let whole = try PhotoFixture.photo(in: format)
    for seed in 0..<200 as Range<UInt64> {
      let bytes = PhotoFixture.damaged(whole, seed: seed)
      let run = Result { try PhotoCase(bytes, limits: PhotoCase.limits(pixels: 1 << 20)) }
      // A library that finds no memory for what a damaged header asks for is a failure, not a crash.
      if case .failure(let error) = run { #expect((error as? MediaError)?.kind == .outOfMemory, "\(error)") }
    }
  }
}
