import Media
import MediaFixtures
import Model
import Testing

@testable import MediaProcess

@Suite("False replies about the preview of a photo", .tags(.media))
struct FalsePreviewReplyTests {
  private static let plan = PhotoPlan(
    limits: PhotoLimits(
      bytes: 1 << 24, pixels: 1 << 24, progressivePixels: 1 << 24, formats: [.jpeg, .webp, .gif]),
    variants: [.photoLarge: PhotoVariant(longEdge: 64, quality: 80)], preview: PhotoPreview(longEdge: 22, quality: 60))

  private static let animation = PhotoPreviewTests.file([
    PhotoPreviewTests.all(0), PhotoPreviewTests.all(1), PhotoPreviewTests.all(2),
  ]).bytes

  private static func run(_ photo: [UInt8]) throws -> PhotoCase {
    try PhotoCase(photo, variants: plan.variants, preview: plan.preview, limits: plan.limits)
  }

  private static func check(_ run: PhotoCase, of photo: [UInt8], preview: [UInt8]? = nil) throws -> PhotoCheck {
    let files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try run.bytes($0)) })
    let written = files.merging(preview.map { [.photoPreview: $0] } ?? [:]) { $1 }
    return PhotoCheck(plan: plan, bytes: Int64(photo.count), outputs: written.mapValues { RequestFile($0) })
  }

  private static let lies: [(field: String, change: @Sendable (inout PhotoReport) -> Void)] = [
    // The facts say whether there is one.
    ("outputs", { $0.facts?.previewImages = nil }),
    ("outputs", { $0.outputs.removeLast() }),
    ("outputs", { $0.outputs.append($0.outputs[1]) }),
    ("facts.preview_images", { $0.facts?.previewImages = 1 }),
    ("facts.preview_images", { $0.facts?.previewImages = 101 }),
    ("facts.preview_images", { $0.facts?.previewImages = .min }),
    ("facts.preview_images", { $0.facts?.isAnimated = false }),
    ("facts.preview_images", { $0.facts?.format = .webp }),
    ("outputs.photo.preview.type", { $0.outputs[1].type = "image/jpeg" }),
    ("outputs.photo.preview.size", { $0.outputs[1].width += 1 }),
    ("outputs.photo.preview.bytes", { $0.outputs[1].bytes -= 1 }),
    ("outputs.photo.preview.duration", { $0.outputs[1].duration = nil }),
    ("outputs.photo.preview.duration", { $0.outputs[1].duration = 2.5 }),
    ("outputs.photo.preview.duration", { $0.outputs[1].duration = -1 }),
    ("outputs.photo.preview.duration", { $0.outputs[1].duration = 0.3 }),
    ("outputs.photo.preview.duration", { $0.outputs[1].duration = .nan }),
    ("outputs.photo.preview.thumbhash", { $0.outputs[1].thumbhash = $0.thumbhash }),
    ("outputs.photo.preview.loudness_lufs", { $0.outputs[1].loudnessLufs = -20 }),
  ]

  @Test("a false reply violates the protocol, and the failure names the field")
  func falseReplies() throws {
    let run = try Self.run(Self.animation)
    let check = try Self.check(run, of: Self.animation)
    #expect(run.report.outputs.map(\.role) == [.photoLarge, .photoPreview])
    #expect(try check.checked(run.report) == run.report)
    for (index, lie) in Self.lies.enumerated() {
      var report = run.report
      lie.change(&report)
      Self.expect(lie.field, "\(index)") { try check.checked(report) }
    }
  }

  @Test("a preview of a photo that is none, and of a refused one, violates the protocol")
  func unexpected() throws {
    let animated = try Self.run(Self.animation).report
    let still = PhotoPreviewTests.file([PhotoPreviewTests.all(0)]).bytes
    let run = try Self.run(still)
    let check = try Self.check(run, of: still)
    #expect(try check.checked(run.report) == run.report)
    var report = run.report
    report.outputs.append(animated.outputs[1])
    Self.expect("outputs", "an output") { try check.checked(report) }
    report.facts?.previewImages = 3
    Self.expect("facts.preview_images", "a number of images") { try check.checked(report) }
    let refused = PhotoReport(
      reason: Reason(.corruptImage, input: .photo, detail: ""), outputs: [animated.outputs[1]])
    Self.expect("outputs", "a refusal") { try check.checked(refused) }
  }

  @Test("a file that is not what the plan says is refused")
  func files() throws {
    let run = try Self.run(Self.animation)
    let bytes = try run.bytes(.photoPreview)
    let larger = try PhotoCase(
      Self.animation, variants: [:], preview: PhotoPreview(longEdge: 30, quality: 60), limits: Self.plan.limits
    ).bytes(.photoPreview)
    // Of the chunks behind the header of 30 bytes, one with metadata, and one frame that is shown a second longer.
    var named = Array(bytes[..<30]) + Array("EXIF".utf8) + [0, 0, 0, 0] + bytes[30...]
    let length = UInt32(named.count - 8)
    named.replaceSubrange(4..<8, with: (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) })
    var longer = bytes
    let frame = try #require((0..<bytes.count).first { bytes[$0...].starts(with: "ANMF".utf8) })
    longer[frame + 8 + 13] += 4
    for (field, content) in [
      ("file", []), ("file", bytes + [0, 0]), ("file", Array(bytes.dropLast(2))), ("file", named), ("size", larger),
      ("duration", longer),
    ] {
      var report = run.report
      report.outputs[1].bytes = Int64(content.count)
      let check = try Self.check(run, of: Self.animation, preview: content)
      Self.expect("outputs.photo.preview.\(field)", "\(content.count) bytes") { try check.checked(report) }
    }
  }

  private static func expect(_ field: String, _ comment: String, _ check: () throws -> PhotoReport) {
    let failure = #expect(throws: MediaFailure.self, "\(comment): \(field)") { _ = try check() }
    #expect(failure?.kind == .protocolViolation)
    #expect(failure?.detail.contains("refused: \(field) ") == true, "\(comment): \(failure?.detail ?? "")")
  }
}
