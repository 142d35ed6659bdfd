package import Model
package import Postgres

/// Columns that are not values of PostgreSQL.
extension Row {
  /// Reads a text column as an enumeration.
  package func enumValue<Value: RawRepresentable<String>>(_ column: String) throws(PostgresError) -> Value {
    let text = try get(column, as: String.self)
    guard let value = Value(rawValue: text) else {
      throw PostgresError(.decoding, "unknown \(Value.self) '\(text)' in column \(column)")
    }
    return value
  }

  /// Reads the reasons of a verdict; most have none, which shows without a decoder.
  package func reasons() throws(PostgresError) -> [Reason] {
    try get("reasons", as: String.self) == "[]" ? [] : json("reasons")
  }

  /// Reads the column `fields`; nil: it has none.
  package func fields() throws(PostgresError) -> [String: FieldValue]? {
    try get("fields", as: String.self) == "{}" ? nil : json("fields")
  }

  /// Reads a column of JSON; the error names the key that is wrong.
  package func json<Value: Decodable>(_ column: String) throws(PostgresError) -> Value {
    let text = try get(column, as: String.self)
    do { return try JSON.decode(Value.self, from: Array(text.utf8)) } catch {
      throw PostgresError(.decoding, "column \(column) cannot be read: \(JSON.reason(error))")
    }
  }
}
