import Media
import MediaFixtures
import Model
import Testing

@testable import MediaProcess

@Suite("False replies to a photo", .tags(.media))
struct FalsePhotoReplyTests {
  private static let variants: [Role: PhotoVariant] = [
    .photoLarge: PhotoVariant(longEdge: 200, quality: 80),
    .photoSmall: PhotoVariant(longEdge: 64, quality: 80, format: .avif),
    .photoSquare: PhotoVariant(square: 50, quality: 80, format: .webp),
  ]

  static let lies: [(field: String, change: @Sendable (inout PhotoReport) -> Void)] = [
    ("facts", { $0.facts = nil }),
    ("facts.format", { $0.facts?.format = .png }),
    ("facts.bytes", { $0.facts?.bytes -= 1 }),
    ("facts.display", { $0.facts?.display.width = 0 }),
    ("facts.display", { $0.facts?.display = Size(width: .max, height: .max) }),
    ("facts.display", { $0.facts?.display = Size(width: 1 << 13, height: 1 << 13) }),
    ("facts.coded", { $0.facts?.coded.width += 1 }),
    ("facts.bits", { $0.facts?.bits = 1 << 40 }),
    ("facts.model", { $0.facts?.model = "RGB\0" }),
    ("decisions", { $0.decisions = Array(repeating: Decision(.color, choice: "", reason: ""), count: 65) }),
    ("decisions[0].input", { $0.decisions = [Decision(.color, input: .clip, choice: "", reason: "")] }),
    ("thumbhash", { $0.thumbhash = nil }),
    ("thumbhash", { $0.thumbhash = "====" }),
    ("dominant_color", { $0.dominantColor = "url(x)" }),
    ("dominant_color", { $0.dominantColor = nil }),
    ("outputs", { $0.outputs = [] }),
    ("outputs", { $0.outputs[1].role = .avatar }),
    ("outputs.photo.large.type", { $0.outputs[0].type = "image/avif" }),
    ("outputs.photo.large.bytes", { $0.outputs[0].bytes += 1 }),
    ("outputs.photo.large.size", { $0.outputs[0].height += 1 }),
    ("outputs.photo.large.duration", { $0.outputs[0].duration = 1 }),
    ("outputs.photo.large.thumbhash", { $0.outputs[0].thumbhash = $0.thumbhash }),
    // Another photo than that of the outputs.
    ("outputs.photo.large.size", { $0.facts?.turn() }),
    // A refusal with the rest of an acceptance, and by what only the parent finds.
    ("facts", { $0.reason = Reason(.corruptImage, input: .photo, detail: "") }),
    ("reason.input", { $0 = PhotoReport(reason: Reason(.corruptImage, input: .clip, detail: "")) }),
    ("reason.code", { $0 = PhotoReport(reason: Reason(.memoryLimitExceeded, input: .photo, detail: "")) }),
    (
      "outputs",
      {
        $0 = PhotoReport(reason: Reason(.corruptImage, input: .photo, detail: ""), outputs: $0.outputs)
      }
    ),
  ]

  @Test("a false reply violates the protocol, and the failure names the field")
  func falseReplies() throws {
    let (photo, run) = try Self.honest()
    let files = try Dictionary(uniqueKeysWithValues: Self.variants.keys.map { ($0, try run.bytes($0)) })
    for (index, lie) in Self.lies.enumerated() {
      var report = run.report
      lie.change(&report)
      try Self.expect(lie.field, report, photo, files, "\(index)")
    }
  }

  @Test("a file that is not what the plan says is refused", arguments: Array(variants.keys))
  func files(role: Role) throws {
    let (photo, run) = try Self.honest()
    let written = try Dictionary(uniqueKeysWithValues: Self.variants.keys.map { ($0, try run.bytes($0)) })
    let bytes = try #require(written[role])
    let index = try #require(run.report.outputs.firstIndex { $0.role == role })
    let other = try PhotoCase(
      PhotoFixture.photo(in: "png", width: 30, height: 20),
      variants: [role: PhotoVariant(longEdge: 30, quality: 80, format: Self.variants[role]?.format)]
    ).bytes(role)
    for (field, content) in [
      ("file", []), ("file", bytes + [0]), ("file", bytes + bytes), ("file", Array(bytes.dropLast(3))),
      ("file", Array("<svg/>".utf8)), ("size", other),
    ] {
      var (report, files) = (run.report, written)
      report.outputs[index].bytes = Int64(content.count)
      files[role] = content
      try Self.expect("outputs.\(role.rawValue).\(field)", report, photo, files, "\(content.count) bytes")
    }
  }

  private static func honest() throws -> (photo: [UInt8], run: PhotoCase) {
    let photo = try PhotoFixture.jpeg(PhotoFixture.quarters(width: 333, height: 222))
    return (photo, try PhotoCase(photo, variants: variants, limits: limits))
  }

  private static let limits = PhotoLimits(
    bytes: 1 << 24, pixels: 1 << 24, progressivePixels: 1 << 24, formats: [.jpeg, .heif])

  private static func expect(
    _ field: String, _ report: PhotoReport, _ photo: [UInt8], _ files: [Role: [UInt8]], _ comment: String
  ) throws {
    let check = PhotoCheck(
      plan: PhotoPlan(limits: limits, variants: variants), bytes: Int64(photo.count),
      outputs: files.mapValues { RequestFile($0) })
    let failure = #expect(throws: MediaFailure.self, "\(comment): \(field)") { try check.checked(report) }
    #expect(failure?.kind == .protocolViolation)
    #expect(failure?.detail.contains("refused: \(field) ") == true, "\(comment): \(failure?.detail ?? "")")
  }
}

extension PhotoFacts {
  /// Exchanges width and height.
  fileprivate mutating func turn() {
    coded = Size(width: coded.height, height: coded.width)
    display = coded
  }
}
