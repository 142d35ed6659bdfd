/// Rows of cells as a table of Markdown.
struct MarkdownTable {
  private var lines: [String]

  init(_ head: [String]) {
    lines = [Self.line(head), Self.line(head.map { _ in "---" }).filter { $0 != " " }]
  }

  mutating func add(_ cells: [String]) { lines.append(Self.line(cells)) }

  var text: String { lines.joined(separator: "\n") }

  private static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
