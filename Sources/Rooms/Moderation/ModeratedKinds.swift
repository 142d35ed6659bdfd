internal import Kit
internal import Model
internal import Postgres

/// The kinds of records in the statements about cases, whose table has a column for each.
extension RecordKind {
  /// The fragments of statements about the subjects of cases, of which each row `opened` of `moderation_case` has one.
  static let fragments = [
    "subject_ids": all.map { record in
      let column = "opened.\(record.column)"
      guard !record.kind.isNamed else { return column }
      return "(SELECT public_id FROM \(record.table) AS subject WHERE subject.id = \(column)) AS \(record.kind.name)"
    }.joined(separator: ", "),
    "subject_authors": all.map { record in
      record.kind == .user
        ? "opened.user_id"
        : "(SELECT \(record.author) FROM \(record.table) WHERE \(record.table).id = opened.\(record.column))"
    }.joined(separator: ", "),
  ]

  /// The column of `moderation_case` that refers to the record.
  private var column: String { kind.name + "_id" }

  /// A statement about the case of a subject of this kind, whose id is `$1`.
  func fill(_ statement: Statement) -> Statement {
    statement.filled(
      kind.name,
      [
        "column": column,
        "subject": kind.isNamed ? "$1" : "(SELECT id FROM \(table) WHERE public_id = $1::uuid)",
      ])
  }

  /// The names of the kinds in a text, such as `post, user and place`.
  static var names: String {
    let names = all.map(\.kind.name)
    return "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
  }
}
