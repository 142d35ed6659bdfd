import Definitions
import Media
import MediaFixtures
import Model
import Platform

/// Something that is submitted, and the outputs that are made of it as the service makes them.
struct Submission: Sendable {
  let name: String
  /// Throws `Refusal` where it is refused.
  let outputs: @Sendable () throws -> [Output]

  /// Why there are no outputs.
  struct Refusal: Error, CustomStringConvertible {
    let description: String

    init(_ reasons: [Reason]) { description = reasons.map(\.code.rawValue).joined(separator: ", ") }
  }

  /// Both cameras' clips of a moment, composed in both arrangements.
  static func moment(
    _ name: String, front: @escaping Clip, back: @escaping Clip, definition: Definition
  ) -> Submission {
    Submission(name: name) {
      let files = [InputName.front: try front(), .back: try back()]
      let facts = try probe(files, definition)
      guard let front = facts[.front], let back = facts[.back] else { return [] }
      return try run(name, Planner(definition).plan(front: front, back: back, foreground: .front), files)
    }
  }

  /// A marker's clip.
  static func marker(_ name: String, clip: @escaping Clip, definition: Definition) -> Submission {
    Submission(name: "\(name), marker") {
      let files = [InputName.clip: try clip()]
      guard let facts = try probe(files, definition)[.clip] else { return [] }
      return try run("\(name), marker", Planner(definition).plan(clip: facts), files)
    }
  }

  /// A photo in the variants of a definition.
  static func photo(_ name: String, _ photo: @escaping Clip, definition: PhotoDefinition) -> Submission {
    let name = "\(name), \(definition.name)"
    return Submission(name: name) {
      let files = try definition.variants.mapValues { _ in try TemporaryFile.make() }
      let report = try PhotoRunner(definition.plan).run(try photo(), outputs: files)
      if let reason = report.reason { throw Refusal([reason]) }
      return try report.outputs.compactMap { facts in
        try files[facts.role].map { try Output("\(name) \(facts.role.rawValue)", $0, facts: facts) }
      }
    }
  }

  /// Opens or makes what is submitted.
  typealias Clip = @Sendable () throws -> OpenFile

  private static func probe(_ files: [InputName: OpenFile], _ definition: Definition) throws -> [InputName: ClipFacts] {
    let prober = Prober(limits: definition.limits)
    return try files.reduce(into: [:]) { facts, file in
      switch try prober.probe(file.value, as: file.key) {
      case .success(let found): facts[file.key] = found
      case .failure(let reason): throw Refusal([reason])
      }
    }
  }

  private static func run(_ name: String, _ plan: Plan, _ inputs: [InputName: OpenFile]) throws -> [Output] {
    var files: [Role: OpenFile] = [:]
    for role in plan.outputs { files[role] = try TemporaryFile.make() }
    let report = try PlanRunner(plan).run(inputs: inputs, outputs: files)
    guard report.verdict.verdict == .accepted else { throw Refusal(report.verdict.reasons) }
    return try report.outputs.compactMap { facts in
      // A copy shows the frames that its source showed.
      let copied = plan.clips.first { $0.role == facts.role && $0.mode == .remux }
      let frames = copied.flatMap { report.verdict.inputs[$0.input]?.frames }
      return try files[facts.role].map {
        try Output("\(name) \(facts.role.rawValue)", $0, facts: facts, frames: frames)
      }
    }
  }
}
