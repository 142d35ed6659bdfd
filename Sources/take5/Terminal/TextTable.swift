/// Columns of text under their titles, as wide as they need to be; numbers stand to the right.
struct TextTable {
  private let titles: [String]
  private var rows: [[String]] = []

  init(_ titles: String...) { self.titles = titles }

  /// Adds a row; nil is shown as a dash.
  mutating func add(_ cells: String?...) { rows.append(cells.map { $0 ?? "-" }) }

  var isEmpty: Bool { rows.isEmpty }

  /// Its lines, the titles first.
  var lines: [String] {
    let all = [titles] + rows
    let widths = titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    let isNumeric = titles.indices.map { column in
      rows.allSatisfy { row in row[column] == "-" || row[column].first?.isNumber == true && row[column].count < 12 }
    }
    return all.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        if column > 0 { line += "  " }
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += isNumeric[column] ? padding + cell : cell + padding
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
