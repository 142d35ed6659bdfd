import Postgres
import Testing

@Suite("Statements")
struct StatementsTests {
  @Test("A file is cut at its names; comments stay behind")
  func parsing() {
    let file = """
      -- What this file is about.

      -- name: first
      -- Why it is so.
      SELECT 1
        FROM t
      -- name: second
      SELECT 'a -- b';
      """
    let statements = Statements(topic: "topic", Array(file.utf8))
    #expect(statements.names == ["first", "second"])
    #expect(statements["first"].text == "SELECT 1\n  FROM t")
    #expect(statements["first"].name == "topic.first")
    #expect(statements["second"].text == "SELECT 'a -- b';")
  }
}
