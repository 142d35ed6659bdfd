import Platform

/// What every judge says of every output: a row for each output, a column for each judge.
struct Table {
  let judges: [Judge]
  let outputs: [Output]
  /// By judge, in the order of the outputs.
  private(set) var columns: [[Judge.Cell]] = []

  /// Lets all judges judge, one after the other.
  init(_ outputs: [Output], judges: [Judge] = Judge.all) async throws {
    self.judges = judges
    self.outputs = outputs
    for judge in judges { columns.append(try await judge.judge(outputs)) }
  }

  /// What failed, with the judge's words.
  var failures: [String] {
    zip(judges, columns).flatMap { judge, cells in
      zip(outputs, cells).compactMap { output, cell in
        guard case .fails(let findings) = cell else { return nil }
        let more = findings.count > 3 ? "; \(findings.count - 3) more" : ""
        return "\(output.name), \(judge): \(findings.prefix(3).joined(separator: "; "))\(more)"
      }
    }
  }

  /// What a judge cannot read, each reason once.
  private var limits: [String] {
    zip(judges, columns).flatMap { judge, cells in
      Set(cells.compactMap { cell in if case .limited(let limit) = cell { "\(judge): (\(limit))" } else { nil } })
        .sorted()
    }
  }

  /// The table as text in columns.
  var text: String {
    let head = ["output"] + judges.map(\.name)
    let rows = outputs.indices.map { row in
      [outputs[row].name] + columns.map { $0[row].word }
    }
    let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
    let lines = ([head] + rows).map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
    }
    let legend = "ok passes, - is another judge's type, () is beyond the judge, FAILS says why below"
    return (lines + [legend] + failures).joined(separator: "\n") + "\n"
  }

  /// Writes it into a file, and on standard output.
  func publish(_ path: String) throws {
    try Descriptor(writing: path, replacing: true).write(Array(text.utf8))
    print(text)
  }
}

extension Judge.Cell {
  /// How the table shows it.
  fileprivate var word: String {
    switch self {
    case .passes: "ok"
    case .unread: "-"
    case .limited: "()"
    case .fails: "FAILS"
    }
  }
}
