import Blobs
import Model
import Postgres
import Rooms
import Store

extension Subcommand {
  private static let note = Option("--note", "TEXT", help: "why, for other moderators")
  private static let subjects = RecordID.Kind.all.map { kind in
    let name = kind.isNamed ? "this \(kind.name)" : "the \(kind.name) with this id"
    return Option("--\(kind.name)", "ID", help: "\(name), instead of a case")
  }

  private static var names: String { subjects.map(\.name).joined(separator: ", ") }

  static let moderationList = Subcommand(
    "moderation list", abstract: "List the cases that wait for a decision, newest first.",
    options: [
      Option("--state", "STATE", .choice(of: ModerationCase.State.self), default: "open", help: "open or decided"),
      Option(
        "--limit", "N", .integer(1...PageRequest.limits.upperBound), default: "50", help: "maximum number of cases"),
    ] + Option.storeAccess, example: "take5 moderation list"
  ) { arguments in
    let state = try arguments.choice("--state", of: ModerationCase.State.self) ?? .open
    let page = PageRequest(limit: try arguments.number("--limit") ?? 50)
    let cases = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { try Moderation.list(state, page, $0) }
    }.items
    if arguments.has("--json") {
      for found in cases { try Console.print(try JSON.text(CaseReport(found))) }
    } else if cases.isEmpty {
      try Console.print(state == .open ? "no case waits for a decision" : "no case was decided")
    } else {
      for line in CaseReport.lines(cases) { try Console.print(line) }
    }
    return .success
  }

  static let moderationShow = Subcommand(
    "moderation show", abstract: "Show a case with its reports.", operands: ["CASE"], options: Option.storeAccess,
    example: "take5 moderation show 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try publicID(arguments.operands[0])
    let report = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session -> CaseReport? in
        return try Moderation.find(id, session).map { found in
          CaseReport(found, try Moderation.reports(of: id, limit: PageRequest.limits.upperBound, session))
        }
      }
    }
    guard let report else { throw noCase(id) }
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .success
  }

  static let moderationApprove = decision(
    .approve, "Approve a user or a user's record, and release it if it is held, hidden or suspended.",
    example: "take5 moderation approve --user mallory --note 'has apologized'")

  static let moderationHide = decision(
    .hide, "Hide something from all but its author, or a place from all users.",
    example: "take5 moderation hide --post 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 --note spam")

  static let moderationSuspend = decision(
    .suspend, "Suspend a user: the service refuses every request that acts as the user.",
    example: "take5 moderation suspend --user mallory --note spam")

  private static func decision(_ decision: ModerationDecision, _ abstract: String, example: String) -> Subcommand {
    Subcommand(
      "moderation \(decision.rawValue)", abstract: abstract, operands: ["[CASE]"],
      options: subjects + [note] + Option.storeAccess, example: example
    ) { arguments in
      let subject = try subject(arguments)
      let given = try arguments.operands.first.map(publicID)
      guard (subject == nil) != (given == nil) else {
        throw CommandFailure(
          .usage, "name one thing to decide about", remedy: "pass the id of a case, or one of \(names)"
        )
      }
      let note = arguments.value(note.name)
      let decided = try await DatabaseAccess.use(arguments) { pool in
        try await pool.transaction { session -> Moderation.Decided in
          let id = try given ?? subject.flatMap { try Moderation.openCase(about: $0, session)?.opened.id }
          return try id.map { try Moderation.decide($0, decision, by: "command line", note: note, session) }
            ?? .notFound
        }
      }
      let report = CaseReport(try result(decided, decision))
      try Console.print(arguments.has("--json") ? try JSON.text(report) : report.outcome)
      return .success
    }
  }

  private static func result(
    _ decided: Moderation.Decided, _ decision: ModerationDecision
  ) throws(CommandFailure) -> ModerationCase {
    switch decided {
    case .decided(let decided): return decided
    case .notFound:
      throw CommandFailure(
        .inputMissing, "there is no such case or subject",
        remedy: "'take5 moderation list' lists the cases; a case ends with its subject")
    case .otherwise(let decided):
      throw CommandFailure(
        .usage, "the decision of this case is '\(decided.outcome?.decision.rawValue ?? "")'",
        remedy: "name its subject with one of \(names) to decide again")
    case .unfit(let subject):
      throw CommandFailure(
        .usage, "\(CaseReport.name(of: subject)) cannot be decided with '\(decision.rawValue)'",
        remedy: "users are suspended, everything else is hidden")
    }
  }

  private static func subject(_ arguments: Arguments) throws(CommandFailure) -> RecordID? {
    var found: [RecordID] = []
    for kind in RecordID.Kind.all {
      guard let text = arguments.value("--\(kind.name)") else { continue }
      guard let subject = RecordID(kind, text) else { throw noID(text) }
      found.append(subject)
    }
    guard found.count < 2 else {
      throw CommandFailure(.usage, "name one thing to decide about", remedy: "pass one of \(names)")
    }
    return found.first
  }

  private static func publicID(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else { throw noID(text) }
    return id
  }

  private static func noID(_ text: String) -> CommandFailure {
    CommandFailure(.usage, "'\(text)' is not an id", remedy: "pass an id as 'take5 moderation list' prints it")
  }

  private static func noCase(_ id: PublicID) -> CommandFailure {
    CommandFailure(
      .inputMissing, "there is no case \(id)",
      remedy: "'take5 moderation list' lists the cases; a case ends with its subject")
  }
}
