/// The statements that a session has prepared: lists are assembled in many forms, and the server stores a plan of each.
struct PreparedStatements {
  private static let maxCount = 256

  private var names: [Statement: (name: String, use: Int)] = [:]
  private var uses = 0

  /// The name of a prepared statement, which thereby is the last one used; nil if it is not prepared.
  mutating func use(_ statement: Statement) -> String? {
    uses += 1
    names[statement]?.use = uses
    return names[statement]?.name
  }

  /// Adds a statement that was prepared.
  mutating func insert(_ statement: Statement, name: String) {
    uses += 1
    names[statement] = (name, uses)
  }

  mutating func remove(_ statement: Statement) { names[statement] = nil }

  /// The least recently used statement, which is deallocated before another one is prepared; nil while there is room.
  var surplus: (statement: Statement, name: String)? {
    guard names.count >= Self.maxCount, let oldest = names.min(by: { $0.value.use < $1.value.use }) else { return nil }
    return (oldest.key, oldest.value.name)
  }
}
