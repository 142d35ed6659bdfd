import FoundationEssentials
import Glibc
import Postgres
import StoreTesting
import Testing

/// `docs/schema.md` shows the tables of a new database. `TAKE5_WRITE_DOCS=1` writes it.
@Suite("Schema document", .tags(.database))
struct SchemaDocumentTests {
  private static let path = "\(#filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined())/docs/schema.md"
  private static let begin = "<!-- written by a test: begin -->\n"
  private static let end = "<!-- written by a test: end -->"

  @Test("the diagram in docs/schema.md shows the tables, columns and references of the database")
  func diagram() async throws {
    try await StoreFixture.with { fixture in
      let diagram = try await fixture.pool.run { try Self.diagram($0) }
      let text = String(decoding: try Data(contentsOf: URL(filePath: Self.path)), as: UTF8.self)
      let head = try #require(text.firstRange(of: Self.begin))
      let tail = try #require(text[head.upperBound...].firstRange(of: Self.end))
      let written = text[..<head.upperBound] + diagram + text[tail.lowerBound...]
      if getenv("TAKE5_WRITE_DOCS") != nil { try Data(written.utf8).write(to: URL(filePath: Self.path)) }
      #expect(text[head.upperBound..<tail.lowerBound] == diagram)
    }
  }

  /// The references as a Mermaid entity-relationship diagram, and a row for each table, its primary key in bold.
  private static func diagram(_ session: Session) throws -> String {
    var lines = ["```mermaid", "erDiagram"]
    let references = try session.execute(
      """
      SELECT target.relname AS target, source.relname AS source, string_agg(attribute.attname, ', ' ORDER BY place) AS columns
      FROM pg_constraint AS reference
        JOIN pg_class AS target ON target.oid = reference.confrelid
        JOIN pg_class AS source ON source.oid = reference.conrelid
        CROSS JOIN LATERAL unnest(reference.conkey) WITH ORDINALITY AS key (number, place)
        JOIN pg_attribute AS attribute ON attribute.attrelid = reference.conrelid AND attribute.attnum = number
      WHERE reference.contype = 'f' AND source.relispartition = false
      GROUP BY reference.oid, target.relname, source.relname ORDER BY 1, 2, 3
      """)
    for row in references {
      let (target, source) = (try row.get("target", as: String.self), try row.get("source", as: String.self))
      lines.append("  \(target) ||--o{ \(source) : \"\(try row.get("columns", as: String.self))\"")
    }
    let columns = try session.execute(
      """
      SELECT relation.relname AS relation, attribute.attname AS name,
        replace(format_type(attribute.atttypid, NULL), 'timestamp with time zone', 'timestamptz') AS type,
        EXISTS (
          SELECT FROM pg_constraint
          WHERE conrelid = relation.oid AND contype = 'p' AND attribute.attnum = ANY (conkey)) AS is_key
      FROM pg_class AS relation JOIN pg_attribute AS attribute ON attribute.attrelid = relation.oid
      WHERE relation.relnamespace = 'public'::regnamespace AND relation.relkind IN ('r', 'p')
        AND NOT relation.relispartition AND attribute.attnum > 0 AND NOT attribute.attisdropped
      ORDER BY relation.relname, attribute.attnum
      """)
    lines.append("```")
    lines += ["", "| table | columns |", "|---|---|"]
    var tables: [(name: String, columns: [String])] = []
    for row in columns {
      let relation = try row.get("relation", as: String.self)
      if tables.last?.name != relation { tables.append((relation, [])) }
      let column = "\(try row.get("name", as: String.self)) \(try row.get("type", as: String.self))"
      tables[tables.count - 1].columns.append(try row.get("is_key", as: Bool.self) ? "**\(column)**" : column)
    }
    lines += tables.map { "| `\($0.name)` | \($0.columns.joined(separator: ", ")) |" }
    return lines.joined(separator: "\n") + "\n"
  }
}
