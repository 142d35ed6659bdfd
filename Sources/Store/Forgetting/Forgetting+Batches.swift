package import Model
package import Postgres

/// The batches of a deletion. Each is one transaction of limited size, and begins with what is left: it does not matter how
/// often the job is interrupted.
extension Forgetting {
  /// Deletes the next batch of what mentions the user of a deletion; false if nothing is left.
  package static func forgetBatch(
    ofJob job: PublicID, in rooms: [any Room.Type], _ session: Session
  ) throws -> Bool {
    let rows = try session.execute(Self.statements["user_of_forgetting"], .text(job.description))
    guard let user = try rows.first?.get("user_id", as: String.self) else { return false }
    // What refers to others is deleted before them; of the rooms last the people, whose blocks hide what is left until then.
    let steps = rooms.reversed().flatMap { $0.forgetting } + [responses, history]
    for step in steps where try step.forget(user, session) { return true }
    try forgetRest(of: user, steps, session)
    return false
  }

  /// The responses to requests of the user and about the user.
  private static let responses = ForgettingStep { user, session in
    // As the encoder writes them into the responses to submissions.
    let named = try ["author", "owner"].map { Array(try JSON.text([$0: user]).utf8.dropFirst().dropLast()) }
    return try session.execute(
      statements["drop_responses_to_user"], .text(user), .bytes(named[0]), .bytes(named[1]),
      .integer(ForgettingStep.rows)
    ).affected > 0
  }

  /// Jobs stay, and no longer name the user.
  private static let history = ForgettingStep(
    statements["blank_jobs"], statements["blank_dead_jobs"], statements["blank_finished_jobs"])

  /// Deletes what is one row or a few, and the deletion itself: the user may come back as a new one.
  private static func forgetRest(of user: String, _ steps: [ForgettingStep], _ session: Session) throws {
    for share in ["look:", "author:", "ahead:"] {
      try session.execute(Self.statements["drop_share"], .text(share + user))
    }
    try session.execute(Self.statements["drop_limit"], .text("author:" + user))
    let last =
      [Self.statements["blank_runs"]] + steps.flatMap(\.atEnd)
      + [Self.statements["note_forgotten"], Self.statements["drop_forgetting"]]
    for statement in last { try session.execute(statement, .text(user)) }
  }
}
