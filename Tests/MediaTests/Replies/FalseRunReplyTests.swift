import Media
import MediaFixtures
import Model
import Testing

@testable import MediaProcess

@Suite("False replies to a run", .tags(.media))
struct FalseRunReplyTests {
  /// A change of an honest report or of the files of its outputs, and the field that is refused then.
  struct Lie: Sendable {
    let field: String
    let change: @Sendable (inout RunReport, inout [Role: [UInt8]]) throws -> Void

    init(_ field: String, _ change: @escaping @Sendable (inout RunReport, inout [Role: [UInt8]]) throws -> Void) {
      self.field = field
      self.change = change
    }
  }

  /// The canvas differs from the clips in its size, so that their files cannot be exchanged.
  private static func honest() throws -> MomentRun {
    try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue, tone: .init(440)).write(),
      definition: MomentRun.definition(width: 180, height: 320))
  }

  static let lies: [Lie] = outputs + files + verdicts

  private static let outputs: [Lie] = [
    Lie("outputs") { report, _ in report.outputs.removeLast() },
    Lie("outputs") { report, _ in report.outputs.append(report.outputs[0]) },
    Lie("outputs") { report, _ in report.outputs[0].role = .composedSwapped },
    Lie("outputs") { report, _ in report.outputs[0].role = .sourceFront },
    Lie("outputs.composed.type") { report, _ in report[.composed]?.type = "text/html" },
    Lie("outputs.poster.type") { report, _ in report[.poster]?.type = "image/webp" },
    Lie("outputs.composed.bytes") { report, _ in report[.composed]?.bytes += 1 },
    Lie("outputs.composed.bytes") { report, _ in report[.composed]?.bytes = -1 },
    Lie("outputs.composed.bytes") { report, _ in report[.composed]?.bytes = .max },
    Lie("outputs.composed.size") { report, _ in report[.composed]?.width += 2 },
    Lie("outputs.composed.small.size") { report, _ in report[.composedSmall]?.height *= 2 },
    Lie("outputs.composed.small.duration") { report, _ in report[.composedSmall]?.duration = 4.7 },
    Lie("outputs.preview.size") { report, _ in report[.preview]?.height = 0 },
    Lie("outputs.poster.size") { report, _ in report[.poster]?.height = .max },
    Lie("outputs.composed.duration") { report, _ in report[.composed]?.duration = nil },
    Lie("outputs.composed.duration") { report, _ in report[.composed]?.duration = 4.7 },
    Lie("outputs.composed.duration") { report, _ in report[.composed]?.duration = 1e30 },
    Lie("outputs.composed.duration") { report, _ in report[.composed]?.duration = .nan },
    Lie("outputs.clip.back.duration") { report, _ in report[.clipBack]?.duration = -.infinity },
    Lie("outputs.preview.duration") { report, _ in report[.preview]?.duration = 1 },
    Lie("outputs.preview.duration") { report, _ in report[.preview]?.duration = 0 },
    Lie("outputs.poster.duration") { report, _ in report[.poster]?.duration = 1 },
    Lie("outputs.poster.loudness_lufs") { report, _ in report[.poster]?.loudnessLufs = -16 },
    Lie("outputs.composed.loudness_lufs") { report, _ in report[.composed]?.loudnessLufs = .infinity },
    Lie("outputs.poster.thumbhash") { report, _ in report[.poster]?.thumbhash = nil },
    Lie("outputs.poster.thumbhash") { report, _ in report[.poster]?.thumbhash = "AAAA\0\0\0\0" },
    Lie("outputs.poster.thumbhash") { report, _ in report[.poster]?.thumbhash = "AAAA" },
    Lie("outputs.poster.thumbhash") { report, _ in
      report[.poster]?.thumbhash = String(repeating: "A", count: 100_000)
    },
    Lie("outputs.composed.thumbhash") { report, _ in
      let thumbhash = report[.poster]?.thumbhash
      report[.composed]?.thumbhash = thumbhash
    },
  ]

  /// Files that are not what the reply says; the length in the reply is theirs.
  private static let files: [Lie] = [
    Lie("outputs.composed.file") { report, files in report.write([], to: .composed, &files) },
    Lie("outputs.composed.file") { report, files in
      report.write(files[.composed, default: []] + [0], to: .composed, &files)
    },
    Lie("outputs.composed.file") { report, files in
      report.write(files[.composed, default: []] + [0, 0, 0, 8] + Array("free".utf8), to: .composed, &files)
    },
    Lie("outputs.composed.file") { report, files in
      report.write(Array(files[.composed, default: []].dropLast()), to: .composed, &files)
    },
    Lie("outputs.composed.file") { report, files in
      report.write(files[.poster, default: []], to: .composed, &files)
    },
    Lie("outputs.composed.size") { report, files in
      report.write(files[.clipBack, default: []], to: .composed, &files)
    },
    Lie("outputs.composed.small.size") { report, files in
      report.write(files[.composed, default: []], to: .composedSmall, &files)
    },
    Lie("outputs.clip.back.size") { report, files in
      report.write(files[.composed, default: []], to: .clipBack, &files)
    },
    Lie("outputs.poster.file") { report, files in
      report.write(files[.preview, default: []], to: .poster, &files)
    },
    Lie("outputs.poster.file") { report, files in
      report.write(files[.poster, default: []] + Array("PK".utf8), to: .poster, &files)
    },
    Lie("outputs.poster.file") { report, files in
      report.write(files[.poster, default: []] + files[.poster, default: []], to: .poster, &files)
    },
    Lie("outputs.poster.file") { report, files in
      let exif: [UInt8] = [0xFF, 0xE1, 0, 8] + Array("Exif\0\0".utf8)
      let poster = files[.poster, default: []]
      report.write(Array(poster.prefix(2)) + exif + Array(poster.dropFirst(2)), to: .poster, &files)
    },
    Lie("outputs.poster.size") { report, files in
      report.write(try PhotoFixture.jpeg(PhotoFixture.quarters(width: 64, height: 48)), to: .poster, &files)
    },
    Lie("outputs.preview.file") { report, files in
      report.write(files[.preview, default: []] + [0, 0], to: .preview, &files)
    },
    Lie("outputs.preview.file") { report, files in
      var preview = files[.preview, default: []]
      preview.replaceSubrange(12..<16, with: Array("EXIF".utf8))
      report.write(preview, to: .preview, &files)
    },
    Lie("outputs.preview.size") { report, files in
      report.write(try PhotoFixture.photo(in: "webp"), to: .preview, &files)
    },
  ]

  private static let verdicts: [Lie] = [
    Lie("verdict") { report, _ in report.verdict.verdict = .rejected },
    Lie("verdict") { report, _ in report.verdict.reasons = [Reason(.corruptVideo, input: .front, detail: "")] },
    Lie("outputs") { report, _ in report.reject([Reason(.corruptVideo, input: .front, detail: "")], keepsOutputs: true)
    },
    Lie("verdict.reasons") { report, _ in
      report.reject(Array(repeating: Reason(.corruptVideo, input: .front, detail: "It is damaged."), count: 10_000))
    },
    Lie("verdict.reasons[1].code") { report, _ in
      report.reject([.corruptVideo, .decoderCrashed].map { Reason($0, input: .front, detail: "") })
    },
    Lie("verdict.reasons[0].input") { report, _ in report.reject([Reason(.tooLarge, input: .photo, detail: "")]) },
    Lie("verdict.reasons[0].seconds") { report, _ in
      report.reject([Reason(.corruptVideo, input: .front, detail: "", seconds: .nan)])
    },
    Lie("verdict.reasons[0].byte_offset") { report, _ in
      report.reject([Reason(.corruptVideo, input: .front, detail: "", byteOffset: 1 << 40)])
    },
    Lie("verdict.reasons[0].byte_offset") { report, _ in
      report.reject([Reason(.corruptVideo, input: nil, detail: "", byteOffset: -1)])
    },
    Lie("verdict.reasons[0].photo") { report, _ in
      report.reject([Reason(.corruptVideo, input: .front, detail: "")])
      report.verdict.reasons[0].photo = 0
    },
    Lie("verdict.warnings") { report, _ in
      report.verdict.warnings = Array(repeating: Warning(.blackVideo, input: .front, detail: ""), count: 65)
    },
    Lie("verdict.warnings[0].input") { report, _ in
      report.verdict.warnings = [Warning(.blackVideo, input: .clip, detail: "")]
    },
    Lie("verdict.warnings[0].seconds") { report, _ in
      report.verdict.warnings = [Warning(.damagedAudio, input: .front, detail: "", seconds: .infinity)]
    },
    Lie("verdict.decisions") { report, _ in
      report.verdict.decisions = Array(repeating: Decision(.audio, choice: "none", reason: ""), count: 1000)
    },
    Lie("verdict.decisions[0].input") { report, _ in
      report.verdict.decisions = [Decision(.audio, input: .photo, choice: "none", reason: "")]
    },
    Lie("verdict.inputs") { report, _ in report.verdict.inputs[.back] = nil },
    Lie("verdict.inputs") { report, _ in report.verdict.inputs[.clip] = report.verdict.inputs[.back] },
    Lie("verdict.inputs.front.facts") { report, _ in report.verdict.inputs[.front]?.facts.bytes += 1 },
    Lie("verdict.inputs.front.frames") { report, _ in report.verdict.inputs[.front]?.frames = -1 },
    Lie("verdict.inputs.front.decoded_seconds") { report, _ in report.verdict.inputs[.front]?.decodedSeconds = .nan },
    Lie("verdict.inputs.front.start") { report, _ in report.verdict.inputs[.front]?.start = 1e30 },
    Lie("verdict.inputs.front.loudness_lufs") { report, _ in report.verdict.inputs[.front]?.loudnessLufs = .nan },
    Lie("verdict.moment.confidence") { report, _ in report.verdict.moment?.confidence = 2 },
    Lie("verdict.moment.offset_seconds") { report, _ in report.verdict.moment?.offsetSeconds = 1e30 },
    Lie("verdict.moment.sound") { report, _ in report.verdict.moment?.sound = .clip },
    Lie("verdict.photos") { report, _ in report.verdict.photos = [] },
  ]

  @Test("a false reply violates the protocol, and the failure names the field")
  func falseReplies() throws {
    let run = try Self.honest()
    let plan = try #require(run.plan)
    let written = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try run.bytes($0)) })
    for (index, lie) in Self.lies.enumerated() {
      var (report, files) = (run.report, written)
      try lie.change(&report, &files)
      let failure = #expect(throws: MediaFailure.self, "\(index): \(lie.field)") {
        try RunCheck(plan: plan, outputs: files.mapValues { RequestFile($0) }).checked(report)
      }
      #expect(failure?.kind == .protocolViolation)
      let detail = failure?.detail ?? ""
      #expect(detail.contains("refused: \(lie.field) ") && detail.utf8.count < 500, "\(index): \(detail)")
    }
  }

  @Test("outputs of another plan are refused")
  func otherPlan() throws {
    let run = try Self.honest()
    let check = try run.check()
    var plan = check.plan
    plan.limits.seconds = SecondsRange(shortest: 1, longest: 2)
    #expect(throws: MediaFailure.self) { try RunCheck(plan: plan, outputs: check.outputs).checked(run.report) }
    plan = check.plan
    plan.clips[0].mode = .encode
    plan.clips[0].size = Size(width: 136, height: 240)
    #expect(throws: MediaFailure.self) { try RunCheck(plan: plan, outputs: check.outputs).checked(run.report) }
  }

  @Test("control characters in texts are replaced, long texts are cut, and the rest of the report stays")
  func texts() throws {
    let run = try Self.honest()
    var report = run.report
    report.verdict.decisions[0] = Decision(
      .audio, choice: "a\0b\u{202E}c\nd", reason: String(repeating: "é", count: 9999))
    let checked = try run.check().checked(report)
    #expect(checked.verdict.decisions[0].choice == "a\u{FFFD}b\u{FFFD}c\u{FFFD}d")
    #expect(checked.verdict.decisions[0].reason == String(repeating: "é", count: String.maxReplyScalars))
    #expect(checked.verdict.decisions.dropFirst() == run.report.verdict.decisions.dropFirst())
    #expect(checked.outputs == run.report.outputs)
  }
}

extension RunReport {
  /// The facts of an output.
  fileprivate subscript(role: Role) -> OutputFacts? {
    get { outputs.first { $0.role == role } }
    set {
      guard let index = outputs.firstIndex(where: { $0.role == role }), let newValue else { return }
      outputs[index] = newValue
    }
  }

  /// Makes it a rejection.
  fileprivate mutating func reject(_ reasons: [Reason], keepsOutputs: Bool = false) {
    verdict.verdict = .rejected
    verdict.reasons = reasons
    if !keepsOutputs { outputs = [] }
  }

  /// Replaces the file of an output and its length.
  fileprivate mutating func write(_ bytes: [UInt8], to role: Role, _ files: inout [Role: [UInt8]]) {
    files[role] = bytes
    self[role]?.bytes = Int64(bytes.count)
  }
}
