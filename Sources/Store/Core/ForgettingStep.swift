package import Postgres

/// A part of the deletion of a user, in batches of limited size.
package struct ForgettingStep: Sendable {
  /// The largest number of rows of a batch.
  package static let rows = 1000

  /// SQL that is true if something is stored of the user `$1`; nil: what this step deletes shows no user.
  package let mention: String?
  /// Deletes a batch, or does nothing and returns false.
  let forget: @Sendable (String, Session) throws -> Bool
  /// What deletes one row or a few, at the end of the deletion.
  let atEnd: [Statement]

  /// - Parameter forget: deletes a batch and returns true, or does nothing and returns false.
  package init(mention: String? = nil, _ forget: @escaping @Sendable (String, Session) throws -> Bool) {
    self.mention = mention
    self.forget = forget
    atEnd = []
  }

  /// Deletes, with each statement, up to `$2` rows of the user `$1`; what is locked before it comes first.
  package init(mention: String? = nil, _ statements: Statement..., lockedBy locks: [Statement] = []) {
    self.init(mention: mention) { user, session in
      for lock in locks { try session.execute(lock, .text(user), .integer(Self.rows)) }
      for statement in statements
      where try session.execute(statement, .text(user), .integer(Self.rows)).affected > 0 { return true }
      return false
    }
  }

  /// Finds the numbers of up to `$2` records of the user `$1`, and executes statements with them, which lock what counts the records, and
  /// then delete these.
  package init(mention: String? = nil, found records: Statement, by statements: [Statement]) {
    self.init(mention: mention) { user, session in
      let found = try session.execute(records, .text(user), .integer(Self.rows))
      let numbers = try found.map { try $0.get("id", as: Int64.self) }
      guard !numbers.isEmpty else { return false }
      for statement in statements { try session.execute(statement, .integers(numbers)) }
      return true
    }
  }

  /// Deletes the few rows of the user `$1` at the end.
  package init(mention: String? = nil, atEnd statements: Statement...) {
    self.mention = mention
    forget = { _, _ in false }
    atEnd = statements
  }
}
