import Platform

/// The results of all programs for all outputs: a row for each output, a column for each program.
struct Table {
  let checkers: [Checker]
  let outputs: [Output]
  /// By program, in the order of the outputs.
  private(set) var columns: [[Checker.Cell]] = []

  /// Checks the outputs with one program after the other.
  init(_ outputs: [Output], checkers: [Checker] = Checker.all) async throws {
    self.checkers = checkers
    self.outputs = outputs
    for checker in checkers { columns.append(try await checker.check(outputs)) }
  }

  /// The failed outputs with the findings.
  var failures: [String] {
    zip(checkers, columns).flatMap { checker, cells in
      zip(outputs, cells).compactMap { output, cell in
        guard case .fails(let findings) = cell else { return nil }
        let more = findings.count > 3 ? "; \(findings.count - 3) more" : ""
        return "\(output.name), \(checker): \(findings.prefix(3).joined(separator: "; "))\(more)"
      }
    }
  }

  /// The reasons for unsupported outputs, each once.
  private var limits: [String] {
    zip(checkers, columns).flatMap { checker, cells in
      Set(cells.compactMap { cell in if case .limited(let limit) = cell { "\(checker): (\(limit))" } else { nil } })
        .sorted()
    }
  }

  /// The table as text in columns.
  var text: String {
    let head = ["output"] + checkers.map(\.name)
    let rows = outputs.indices.map { row in
      [outputs[row].name] + columns.map { $0[row].text }
    }
    let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
    let lines = ([head] + rows).map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
    }
    let legend = "ok: passed, -: type not read, (): not supported, FAILS: reason below"
    return (lines + [legend] + failures).joined(separator: "\n") + "\n"
  }

  /// Writes the table into a file and prints it.
  func publish(_ path: String) throws {
    try Descriptor(writing: path, replacing: true).write(Array(text.utf8))
    print(text)
  }
}

extension Checker.Cell {
  /// The text in the table.
  fileprivate var text: String {
    switch self {
    case .passes: "ok"
    case .unread: "-"
    case .limited: "()"
    case .fails: "FAILS"
    }
  }
}
