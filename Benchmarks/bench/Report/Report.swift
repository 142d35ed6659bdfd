internal import Platform

/// The results of a benchmark as a table for a terminal, lines for programs, and Markdown for documents.
struct Report {
  let machine: Machine
  let pairs: Int
  /// The unit of `pairs`.
  var unit = "pair"
  /// The findings with a goal, and those reported next to them.
  let figures: [Finding]
  /// Findings that explain the figures.
  let observations: [Finding]

  /// A table, remarks, and a line for each figure.
  var text: String {
    var table = ReportTable()
    table.add(["", "median", "min", "max", "goal", ""])
    for finding in figures + observations {
      table.add(heading: "\(finding.figure.name): \(finding.figure.meaning)")
      let verdict = [finding.figure.goal?.description ?? "", Self.verdict(finding.isMet, isMarkdown: false)]
      table.add(["  figure"] + Self.cells(finding.statistics, finding.figure.decimals) + verdict)
      for detail in finding.details { table.add(["  \(detail.name)"] + Self.cells(detail.statistics, detail.decimals)) }
    }
    return ([heading, "", table.text, "", Self.remarks, ""] + lines).joined(separator: "\n")
  }

  /// The tables for documents.
  var markdown: String {
    var figureTable = MarkdownTable(["figure", "goal", "median", "min", "max", "met", "from"])
    for finding in figures {
      figureTable.add(
        ["`\(finding.figure.name)`", finding.figure.goal?.description ?? "-"]
          + Self.cells(finding.statistics, finding.figure.decimals)
          + [Self.verdict(finding.isMet, isMarkdown: true), Self.medians(finding.details)])
    }
    var observationTable = MarkdownTable(["also measured", "", "value", "from"])
    for finding in observations {
      observationTable.add([
        "`\(finding.figure.name)`", finding.figure.meaning, finding.value.text(decimals: finding.figure.decimals),
        Self.medians(finding.details),
      ])
    }
    return "\n\(heading).\n\n\(figureTable.text)\n\n\(observationTable.text)\n"
  }

  /// The goals that are not met, for a terminal; nil if all are met.
  var misses: String? {
    let missed = figures.filter { $0.isMet == false }
    guard !missed.isEmpty else { return nil }
    let goals = figures.filter { $0.isMet != nil }.count
    return
      (["bench: \(missed.count) OF \(goals) GOALS MISSED"]
      + missed.map { finding in
        "  \(finding.figure.name): \(finding.value.text(decimals: finding.figure.decimals)), "
          + "but the goal is \(finding.figure.goal?.description ?? "")"
      }).joined(separator: "\n")
  }

  private var heading: String { "\(machine.description); \(pairs) \(unit)\(pairs == 1 ? "" : "s")" }

  private var lines: [String] {
    figures.map { "figure \($0.figure.name) \($0.value.text(decimals: $0.figure.decimals))" }
  }

  private static let remarks = """
    A ratio is take5's value divided by the other's, pair by pair. CPU is user and system time of all processes, memory the
    maximum that all had resident together; both include the media process. docs/benchmarks.md describes what is measured
    and what is left out.
    """

  private static func cells(_ statistics: Statistics, _ decimals: Int) -> [String] {
    guard statistics.count > 1 else { return [statistics.median.text(decimals: decimals), "", ""] }
    return [statistics.median, statistics.min, statistics.max].map { $0.text(decimals: decimals) }
  }

  private static func medians(_ details: [Finding.Detail]) -> String {
    details.map { "\($0.name): \($0.statistics.median.text(decimals: $0.decimals))" }.joined(separator: "; ")
  }

  private static func verdict(_ isMet: Bool?, isMarkdown: Bool) -> String {
    switch isMet {
    case true?: "met"
    case false?: isMarkdown ? "**missed**" : "MISSED"
    case nil: isMarkdown ? "-" : ""
    }
  }
}

/// The generated part of a document, between two HTML comments.
struct MarkedSection {
  /// The target of the Makefile that writes the section.
  let target: String

  var begin: String { "<!-- written by 'make \(target)': begin -->" }
  var end: String { "<!-- written by 'make \(target)': end -->" }

  /// Returns the text between the markers of a document.
  func content(of path: String) throws -> String {
    let text = try Self.text(of: path)
    return String(text[try range(in: text, of: path)])
  }

  /// Replaces the text between the markers of a document.
  func replace(_ section: String, in path: String) throws {
    var text = try Self.text(of: path)
    text.replaceSubrange(try range(in: text, of: path), with: "\n\(section)\n")
    try Descriptor(writing: path, replacing: true).write(Array(text.utf8))
  }

  private static func text(of path: String) throws -> String {
    String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
  }

  private func range(in text: String, of path: String) throws -> Range<String.Index> {
    guard let begin = text.firstRange(of: begin), let end = text.firstRange(of: end), begin.upperBound <= end.lowerBound
    else { throw BenchError("\(path) does not contain the lines \(begin) and \(end)") }
    return begin.upperBound..<end.lowerBound
  }
}
