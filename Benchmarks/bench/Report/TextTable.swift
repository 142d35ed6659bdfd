/// Rows of cells in columns, for a terminal: the first column to the left, the others to the right.
struct TextTable {
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
