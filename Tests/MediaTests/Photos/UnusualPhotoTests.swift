import MediaFixtures
import Model
import Platform
import Stills
import Testing

/// Photos as phones and programs write them, beside others with the same picture.
@Suite(
  "Photos that are written unusually", .tags(.media),
  .enabled(if: FieldMedia.folder != nil, "TAKE5_FIELD_MEDIA is not set"))
struct UnusualPhotoTests {
  private func photo(_ name: String) throws -> PhotoCase {
    try PhotoCase(TemporaryFile.bytes(of: FieldMedia.open("photos-2/\(name)")))
  }

  private func image(_ name: String) throws -> RGBImage { try photo(name).decodedImage() }

  /// The mean and the largest difference of two images of one size in one component.
  private func difference(_ one: RGBImage, _ other: RGBImage) -> (mean: Double, max: Int) {
    guard one.width == other.width, one.height == other.height else { return (255, 255) }
    let all = zip(one.bytes, other.bytes).map { abs(Int($0) - Int($1)) }
    return (Double(all.reduce(0, +)) / Double(all.count), all.max() ?? 0)
  }

  @Test(
    "what no pixel depends on changes no pixel",
    arguments: [
      "samsung_sos_se0.jpg", "pad2_before_dqt.jpg", "pad2_before_sof.jpg", "pad2_before_sos.jpg", "no_eoi.jpg",
      "samsung_no_eoi_short_trailer.jpg", "xiaomi_rst_after.jpg", "rst_many_after.jpg",
    ])
  func samePixels(name: String) throws {
    let photo = try photo(name)
    #expect(photo.report.reason == nil)
    #expect(try difference(photo.decodedImage(), image("base.jpg")).max == 0)
  }

  @Test(
    "damage in a scan is refused",
    arguments: [("pad8_before_rst.jpg", ReasonCode.corruptImage), ("cut_1_percent.jpg", .truncatedContainer)])
  func damaged(name: String, code: ReasonCode) throws {
    #expect(try photo(name).report.reason?.code == code)
  }

  @Test(
    "high dynamic range is mapped however it is written",
    arguments: ["hdr_pq_8.avif", "hdr_pq_10.avif", "cicp_pq2020_16bit.png", "icc_pq.jpg"])
  func mapped(name: String) throws {
    let photo = try photo(name)
    #expect(photo.report.facts?.dynamicRange == .perceptualQuantizer)
    // The white and the reds that zimg and LittleCMS give, as sRGB, but for what AVIF loses.
    let image = try photo.decodedImage()
    let white = color(image, 0.9, 0.9)
    #expect((232...240).contains(white.min()) && (232...240).contains(white.max()), "\(white)")
    let red = color(image, 0.1, 0.1)
    #expect(abs(red.x - 204) <= 8 && abs(red.y - 36) <= 8 && abs(red.z - 36) <= 8, "\(red)")
    let found = try difference(image, self.image("plain.png"))
    #expect(found.mean < 14, "\(found)")
  }

  /// The colour at a position, both between 0 and 1.
  private func color(_ image: RGBImage, _ x: Double, _ y: Double) -> SIMD3<Int> {
    let index = 3 * (Int(y * Double(image.height)) * image.width + Int(x * Double(image.width)))
    return SIMD3(Int(image.bytes[index]), Int(image.bytes[index + 1]), Int(image.bytes[index + 2]))
  }

  @Test(
    "an orientation turns the photo however it is written",
    arguments: ["orient6_long_be.jpg", "orient6_long_le.jpg", "exif6_after_idat.png", "exif6_no_irot.heic"])
  func oriented(name: String) throws {
    let (image, upright) = (try image(name), try image("base.jpg"))
    #expect((image.width, image.height) == (upright.height, upright.width))
    // 90 degrees clockwise: what was at the bottom left is at the top left.
    for (x, y) in [(0.1, 0.1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.9)] {
      let (found, expected) = (color(image, x, y), color(upright, y, 1 - x))
      #expect((found &- expected).max() <= 8 && (expected &- found).max() <= 8, "\(found), \(expected)")
    }
  }

  @Test("a photo that begins with other bytes is refused by what it looks like")
  func otherBeginning() throws {
    let reason = try #require(try photo("lead_newline.jpg").report.reason)
    #expect(reason.code == .unsupportedContainer && reason.detail.contains("looks like a JPEG image"))
  }

  @Test(
    "a PNG's gamma and chromaticities describe its colours", arguments: ["gama_linear.png", "chrm_p3_gama.png"])
  func gamma(name: String) throws {
    let found = try difference(image(name), image("plain.png"))
    #expect(found.mean < 4, "\(found)")
  }

  @Test("a mirrored image has left and right exchanged", arguments: ["mirror8.avif", "mirror10.avif"])
  func mirrored(name: String) throws {
    let (image, original) = (try image(name), try image("plain.png"))
    for (x, y) in [(0.1, 0.1), (0.9, 0.1), (0.1, 0.9), (0.9, 0.9)] {
      let (found, expected) = (color(image, x, y), color(original, 1 - x, y))
      #expect((found &- expected).max() <= 8 && (expected &- found).max() <= 8, "\(found), \(expected)")
    }
  }

  @Test(
    "images beside each other show the same",
    arguments: [
      ("mono_limited.avif", "mono_full.avif", 2.0), ("alpha_pq_10.avif", "alpha_pq_8.avif", 6),
      ("mirror10.avif", "mirror8.avif", 2),
    ])
  func pairs(name: String, other: String, most: Double) throws {
    let found = try difference(image(name), image(other))
    #expect(found.mean <= most, "\(found)")
  }

  @Test(
    "the transparent half of a photo of high dynamic range is white",
    arguments: ["alpha_pq_8.avif", "alpha_pq_10.avif"])
  func transparent(name: String) throws {
    #expect(try image(name).quarters.contains { $0 == SIMD3(255, 255, 255) })
  }

  @Test("tiles that share their bytes are read")
  func sharedTiles() throws { #expect(try photo("grid_shared_noise.avif").report.reason == nil) }
}
