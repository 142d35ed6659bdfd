import Definitions
import Media
import MediaFixtures
import Model
import Platform
import Testing

/// A moment that was probed, planned and run, as in the service.
struct MomentRun {
  let report: RunReport
  let plan: Plan?
  private let files: [Role: OpenFile]

  /// The built-in definition with a small canvas, which is quick to encode.
  static func definition(width: Int = 270, height: Int = 480) throws -> Definition {
    var definition = try Definitions.take5Post()
    definition.canvas.width = width
    definition.canvas.height = height
    definition.outputs[.composedSmall]?.rendition?.longEdge = height / 2
    return definition
  }

  init(
    front: OpenFile, back: OpenFile, foreground: Camera = .front, definition: Definition? = nil,
    roles: Set<Role>? = nil, mode: ExecutionMode = .throughput
  ) throws {
    let definition = try definition ?? Self.definition()
    let prober = Prober(limits: definition.limits)
    var facts: [InputName: ClipFacts] = [:]
    var reasons: [Reason] = []
    for (input, file) in [(InputName.front, front), (.back, back)] {
      switch try prober.probe(file, as: input) {
      case .success(let found): facts[input] = found
      case .failure(let reason): reasons.append(reason)
      }
    }
    guard let frontFacts = facts[.front], let backFacts = facts[.back] else {
      report = RunReport(
        verdict: Verdict(reasons: reasons, inputs: facts.mapValues { InputReport(facts: $0) }, decisions: []),
        outputs: [])
      plan = nil
      files = [:]
      return
    }
    let plan = Planner(definition).plan(front: frontFacts, back: backFacts, foreground: foreground, roles: roles)
    var files: [Role: OpenFile] = [:]
    for role in plan.outputs { files[role] = try TemporaryFile.make() }
    report = try PlanRunner(plan, mode: mode, inputs: [.front: front, .back: back], outputs: files).run()
    self.plan = plan
    self.files = files
  }

  /// The codes of the reasons for which the moment is refused.
  var codes: [ReasonCode] { report.verdict.reasons.map(\.code) }

  /// The codes of the warnings.
  var warnings: Set<WarningCode> { Set(report.verdict.warnings.map(\.code)) }

  /// The choices of the decisions about a subject.
  func choices(_ subject: Decision.Subject) -> [String] {
    report.verdict.decisions.filter { $0.subject == subject }.map(\.choice)
  }

  var isAccepted: Bool { report.verdict.verdict == .accepted }

  func facts(_ role: Role) -> OutputFacts? { report.outputs.first { $0.role == role } }

  /// An output, opened for decoding.
  func video(_ role: Role) throws -> DecodedClip {
    guard let file = files[role] else { throw MissingOutput(role: role) }
    return try DecodedClip(file)
  }

  func bytes(_ role: Role) throws -> [UInt8] {
    guard let file = files[role] else { throw MissingOutput(role: role) }
    return try TemporaryFile.bytes(of: file)
  }

  struct MissingOutput: Error { let role: Role }
}

/// The top-level boxes of a file (ISO/IEC 14496-12, 4.2), in order.
struct TopLevelBoxes {
  let names: [String]

  init(_ bytes: [UInt8]) {
    var names: [String] = []
    var offset = 0
    while offset + 8 <= bytes.count {
      let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
      guard size >= 8 else { break }
      offset += size
    }
    self.names = names
  }
}

extension Tag {
  /// Decodes or encodes media.
  @Tag static var media: Tag
}
