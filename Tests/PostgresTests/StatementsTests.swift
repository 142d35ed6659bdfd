import Platform
import PostgresTesting
import Testing

@testable import Postgres

@Suite("Statements")
struct StatementsTests {
  private func statements(_ files: String...) throws -> Statements {
    try Statements(topic: "topic", parsing: files.map { Array($0.utf8) })
  }

  @Test("a file is split at the names, without comments")
  func parsing() {
    let file = """
      -- A comment of the file.

      -- name: first
      -- A comment of the statement.
      SELECT 1
        FROM t
      -- name: second
      SELECT 'a -- b';
      """
    let statements = Statements(topic: "topic", EmbeddedText(Array(file.utf8)))
    #expect(statements.names == ["first", "second"])
    #expect(statements["first"].text == "SELECT 1\n  FROM t")
    #expect(statements["first"].name == "topic.first")
    #expect(statements["second"].text == "SELECT 'a -- b';")
  }

  @Test("a fragment is inserted where statements and fragments name it, also in another file and before it")
  func fragments() throws {
    let statements = try statements(
      """
      -- name: list
      SELECT {columns}, {shifted(least(a, b), {now})} FROM t
      """,
      """
      -- fragment: columns
      -- A comment of the fragment.
      id,
      name

      -- fragment: shifted(time, by)
      {time} + {by} * {step}

      -- fragment: now
      clock_timestamp()
      -- fragment: step
      30
      """)
    #expect(statements.names == ["list"])
    #expect(statements["list"].text == "SELECT id,\nname, least(a, b) + clock_timestamp() * 30 FROM t")
  }

  @Test(
    "a statement with parameters gets their text when it is used, and fragments that the program knows are inserted")
  func parameters() throws {
    let file = "-- name: list(conditions, limit)\nSELECT {columns} FROM t WHERE {conditions} LIMIT {limit}"
    let statements = try Statements(topic: "topic", parsing: [Array(file.utf8)], fragments: ["columns": "a, b"])
    let filled = statements["list"].filled("one", ["conditions": "a = '{}'", "limit": "1"])
    #expect(filled.text == "SELECT a, b FROM t WHERE a = '{}' LIMIT 1")
    #expect(filled.name == "topic.list.one")
  }

  @Test(
    "braces of SQL are no fragments", arguments: ["SELECT '{}'", "SELECT '[0-9]{8}'", "SELECT '{a,b}'", "SELECT '{'"])
  func braces(sql: String) throws {
    #expect(try statements("-- name: it\n\(sql)")["it"].text == sql)
  }

  @Test(
    "an error in a file is found when it is parsed",
    arguments: [
      ("-- name: it\n1\n-- name: it\n2", "statement it occurs twice"),
      ("-- fragment: it\n1\n-- fragment: it(a)\n2", "fragment it occurs twice"),
      ("-- name: it\n{other}", "it: unknown fragment other"),
      ("-- name: it\n{other}\n-- fragment: other(a)\n{a}", "it: fragment other takes 1 arguments"),
      ("-- name: it\n{other(a)}\n-- fragment: other\n1", "it: fragment other takes 0 arguments"),
      ("-- name: it\n{other}\n-- fragment: other\n{other}", "fragment other contains itself"),
      ("-- fragment: it(a\n1", "the line is malformed: -- fragment: it(a"),
    ])
  func errors(file: String, expected: String) {
    let error = #expect(throws: StatementError.self) { try statements(file) }
    #expect(error?.description == expected)
  }
}
