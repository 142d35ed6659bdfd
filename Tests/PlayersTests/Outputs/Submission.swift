import Definitions
import Glibc
import Media
import MediaFixtures
import Model
import Platform

/// A submission and its outputs, made by the same code as in the service.
struct Submission: Sendable {
  let name: String
  /// Makes the outputs; throws `Rejection` if the submission is rejected.
  let outputs: @Sendable () throws -> [Output]

  /// The reasons of a rejection.
  struct Rejection: Error, CustomStringConvertible {
    let description: String

    init(_ reasons: [Reason]) { description = reasons.map(\.code.rawValue).joined(separator: ", ") }
  }

  /// The clips of both cameras.
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

  /// The clip of a marker.
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
      let files = try Dictionary(
        uniqueKeysWithValues: definition.plan.outputs.map { ($0, try TemporaryFile.make()) })
      let report = try PhotoRunner(definition.plan).run(try photo(), outputs: files)
      if let reason = report.reason { throw Rejection([reason]) }
      return try report.outputs.compactMap { facts in
        try files[facts.role].map { try Output("\(name) \(facts.role.rawValue)", $0, facts: facts) }
      }
    }
  }

  /// Opens or makes a submitted file.
  typealias Clip = @Sendable () throws -> OpenFile

  private static func probe(_ files: [InputName: OpenFile], _ definition: Definition) throws -> [InputName: ClipFacts] {
    let prober = Prober(limits: definition.limits)
    return try files.reduce(into: [:]) { facts, file in
      switch try prober.probe(file.value, as: file.key) {
      case .success(let found): facts[file.key] = found
      case .failure(let reason): throw Rejection([reason])
      }
    }
  }

  private static func run(_ name: String, _ plan: Plan, _ inputs: [InputName: OpenFile]) throws -> [Output] {
    var files: [Role: OpenFile] = [:]
    for role in plan.outputs { files[role] = try TemporaryFile.make() }
    let report = try PlanRunner(plan, inputs: inputs, outputs: files).run()
    guard report.verdict.verdict == .accepted else { throw Rejection(report.verdict.reasons) }
    return try report.outputs.compactMap { facts in
      // A copied stream has the frames of its source.
      let copied = plan.clips.first { $0.role == facts.role && $0.mode == .remux }
      let frames = copied.flatMap { report.verdict.inputs[$0.input]?.frames }
      return try files[facts.role].map {
        try Output("\(name) \(facts.role.rawValue)", $0, facts: facts, frames: frames)
      }
    }
  }
}

extension Submission {
  /// The folder that `TAKE5_FIELD_MEDIA` names.
  static let fieldFolder = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  /// The submissions of the field media, which are recordings of real phones.
  static func fieldMedia() throws -> [Submission] {
    guard let folder = fieldFolder else { return [] }
    func files(_ kind: String) throws -> [(name: String, open: Clip)] {
      try [kind, "\(kind)-2"].map { "\(folder)/\($0)" }.filter(Folder.isFolder).flatMap {
        path throws -> [(name: String, open: Clip)] in
        try Folder.names(in: path).sorted().map { name in
          (name, { OpenFile(try Descriptor(reading: "\(path)/\(name)")) })
        }
      }
    }
    var definition = try bothArrangements()
    definition.canvas.width = 540
    definition.canvas.height = 960
    definition.allowAnyDuration()
    definition.outputs[.composed]?.composed?.seconds.shortest = 0.1
    definition.outputs[.composedSwapped]?.composed?.seconds.shortest = 0.1
    var marker = try Definitions.markerVideo()
    marker.allowAnyDuration()
    let photoDefinitions = try photoDefinitions()
    return try files("videos").flatMap { name, open in
      [
        moment(name, front: open, back: { try MarkedClip(.blue).write() }, definition: definition),
        Submission.marker(name, clip: open, definition: marker),
      ]
    } + files("photos").flatMap { name, open in photoDefinitions.map { photo(name, open, definition: $0) } }
  }
}

extension Definition {
  /// Extends the limits, because field media have any duration.
  fileprivate mutating func allowAnyDuration() {
    limits.seconds = SecondsRange(shortest: 0.1, longest: 30)
    limits.differenceSeconds = 30
  }
}
