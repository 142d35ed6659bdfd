/// What was measured, for people, for programs and for the documents.
struct Report {
  let machine: Machine
  let pairs: Int
  /// What is counted by them.
  var unit = "pair"
  /// What has to be as good as promised.
  let figures: [Finding]
  /// What helps to judge the figures.
  let observations: [Finding]

  /// A table, what it leaves out, and a line for each figure.
  var text: String {
    var table = TextTable()
    table.add(["", "median", "min", "max", "goal", ""])
    for finding in figures + observations {
      table.add(heading: "\(finding.figure.name): \(finding.figure.meaning)")
      let judged = [finding.figure.goal?.description ?? "", Self.word(finding.isMet, isLoud: true)]
      table.add(["  figure"] + Self.cells(finding.statistics, finding.figure.decimals) + judged)
      for detail in finding.details { table.add(["  \(detail.name)"] + Self.cells(detail.statistics, detail.decimals)) }
    }
    return ([heading, "", table.text, "", Self.remarks, ""] + lines).joined(
      separator: "\n")
  }

  /// The tables of the documents.
  var markdown: String {
    var judged = MarkdownTable(["figure", "goal", "median", "min", "max", "met", "from"])
    for finding in figures {
      judged.add(
        ["`\(finding.figure.name)`", finding.figure.goal?.description ?? "-"]
          + Self.cells(finding.statistics, finding.figure.decimals)
          + [Self.word(finding.isMet, isLoud: false), Self.medians(finding.details)])
    }
    var observed = MarkdownTable(["also measured", "", "value", "from"])
    for finding in observations {
      observed.add([
        "`\(finding.figure.name)`", finding.figure.meaning, finding.value.text(decimals: finding.figure.decimals),
        Self.medians(finding.details),
      ])
    }
    return "\n\(heading).\n\n\(judged.text)\n\n\(observed.text)\n"
  }

  /// Says loudly which goals were not met; nil if none.
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
    Ratios are ours divided by the other's, taken pair by pair; CPU is user and system time of all processes, memory the
    most that all had resident together, the media process always included. What is left out and what is not the same
    stands in docs/benchmarks.md.
    """

  private static func cells(_ statistics: Statistics, _ decimals: Int) -> [String] {
    guard statistics.count > 1 else { return [statistics.median.text(decimals: decimals), "", ""] }
    return [statistics.median, statistics.least, statistics.greatest].map { $0.text(decimals: decimals) }
  }

  private static func medians(_ details: [Finding.Detail]) -> String {
    details.map { "\($0.name): \($0.statistics.median.text(decimals: $0.decimals))" }.joined(separator: "; ")
  }

  private static func word(_ isMet: Bool?, isLoud: Bool) -> String {
    switch isMet {
    case true?: "met"
    case false?: isLoud ? "MISSED" : "**missed**"
    case nil: isLoud ? "" : "-"
    }
  }
}
