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
    let plain = try image("plain.png")
    let found = try difference(photo.decodedImage(), plain)
    #expect(found.mean < 14, "\(found)")
  }

  @Test(
    "gamma and chromaticities of a PNG are those of its colours", arguments: ["gama_linear.png", "chrm_p3_gama.png"])
  func gamma(name: String) throws {
    let found = try difference(image(name), image("plain.png"))
    #expect(found.mean < 4, "\(found)")
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
