import FoundationEssentials
import Model
import Queue

extension JobFilter {
  /// The jobs that the options and the operands describe.
  init(_ arguments: Arguments, limit: Int = 20) throws(CommandFailure) {
    self.init(limit: limit)
    states = try arguments.choices("--state", of: JobState.self)
    queue = arguments.value("--queue")
    kind = arguments.value("--kind")
    author = arguments.value("--author")
    error = arguments.value("--error")
    let now = Date()
    createdAfter = try arguments.time("--created-after", now: now)
    createdBefore = try arguments.time("--created-before", now: now)
    finishedAfter = try arguments.time("--finished-after", now: now)
    finishedBefore = try arguments.time("--finished-before", now: now)
    if let text = arguments.value("--before") { before = try Self.id(text) }
    for text in arguments.operands { ids.append(try Self.id(text)) }
  }

  /// Whether nothing but ids and a limit is said.
  var namesOnlyIDs: Bool { self == JobFilter(ids: ids, limit: limit) }

  /// The id of a job as it was typed.
  static func id(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else {
      throw CommandFailure(.usage, "'\(text)' is no job's id", remedy: "'take5 jobs list' shows the ids")
    }
    return id
  }
}
