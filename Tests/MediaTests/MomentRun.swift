import Definitions
import Media
import MediaFixtures
import Model
import Platform

/// A moment taken through probe, plan and run, as the service does it.
struct MomentRun {
  let report: RunReport
  let plan: Plan?
  private let files: [Role: OpenFile]

  /// The built-in definition on a canvas that is quick to encode; everything else as shipped.
  static func definition(width: Int = 270, height: Int = 480) throws -> Definition {
    var definition = try Definitions.take5Post()
    definition.canvas.width = width
    definition.canvas.height = height
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
    report = try PlanRunner(plan, mode: mode).run(inputs: [.front: front, .back: back], outputs: files)
    self.plan = plan
    self.files = files
  }

  /// The codes of the reasons for which it was refused.
  var codes: [ReasonCode] { report.verdict.reasons.map(\.code) }

  /// The codes of what is odd about the media.
  var warnings: Set<WarningCode> { Set(report.verdict.warnings.map(\.code)) }

  /// What was chosen about a subject.
  func choices(_ subject: Decision.Subject) -> [String] {
    report.verdict.decisions.filter { $0.subject == subject }.map(\.choice)
  }

  var isAccepted: Bool { report.verdict.verdict == .accepted }

  func facts(_ role: Role) -> OutputFacts? { report.outputs.first { $0.role == role } }

  /// An output read back.
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
