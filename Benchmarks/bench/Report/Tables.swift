/// A table for a terminal, with the first column left-aligned and the others right-aligned.
struct ReportTable {
  private enum Line {
    case heading(String)
    case cells([String])
  }

  private var lines: [Line] = []

  /// Adds a line across all columns.
  mutating func add(heading: String) { lines.append(.heading(heading)) }

  mutating func add(_ cells: [String]) { lines.append(.cells(cells)) }

  var text: String {
    var widths: [Int] = []
    for case .cells(let cells) in lines {
      for (column, cell) in cells.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return lines.map { line in
      switch line {
      case .heading(let text): text
      case .cells(let cells): Self.line(cells, widths)
      }
    }.joined(separator: "\n")
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = cells.enumerated().map { column, cell in
      let padding = String(repeating: " ", count: widths[column] - cell.count)
      return column == 0 ? cell + padding : padding + cell
    }
    return String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
  }
}

/// A Markdown table.
struct MarkdownTable {
  private var lines: [String]

  init(_ head: [String]) {
    lines = [Self.line(head), Self.line(head.map { _ in "---" }).filter { $0 != " " }]
  }

  mutating func add(_ cells: [String]) { lines.append(Self.line(cells)) }

  var text: String { lines.joined(separator: "\n") }

  private static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
