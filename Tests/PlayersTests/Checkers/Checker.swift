/// An independent program that checks outputs.
struct Checker: Sendable, CustomStringConvertible {
  let name: String
  /// The media types (RFC 6838) that it reads.
  let reads: Set<String>
  /// Returns the reason why the program does not support an output of a type that it reads; nil if it does.
  let limit: @Sendable (Output) -> String?
  /// Returns the findings for each output; an empty list if it passes.
  private let findings: @Sendable ([Output]) async throws -> [[String]]

  var description: String { name }

  /// A program that checks all outputs in one run.
  init(
    _ name: String, reads: Set<String>, limit: @escaping @Sendable (Output) -> String? = { _ in nil },
    all findings: @escaping @Sendable ([Output]) async throws -> [[String]]
  ) {
    self.name = name
    self.reads = reads
    self.limit = limit
    self.findings = findings
  }

  /// A program that checks one output in a run.
  init(
    _ name: String, reads: Set<String>, limit: @escaping @Sendable (Output) -> String? = { _ in nil },
    each findings: @escaping @Sendable (Output) async throws -> [String]
  ) {
    self.init(name, reads: reads, limit: limit) { outputs in try await inPairs(outputs, findings) }
  }

  /// The result for one output.
  enum Cell: Hashable, Sendable {
    case passes
    /// The program does not read this type.
    case unread
    /// The program does not support this output.
    case limited(String)
    case fails([String])

    var fails: Bool { if case .fails = self { true } else { false } }
  }

  /// Checks outputs and returns one cell for each.
  func check(_ outputs: [Output]) async throws -> [Cell] {
    let read = outputs.indices.filter { reads.contains(outputs[$0].type) && limit(outputs[$0]) == nil }
    let found = try await findings(read.map { outputs[$0] })
    var cells = outputs.map { output in
      reads.contains(output.type) ? limit(output).map(Cell.limited) ?? .passes : .unread
    }
    for (index, findings) in zip(read, found) where !findings.isEmpty { cells[index] = .fails(findings) }
    return cells
  }
}

/// Maps elements with at most two calls at a time, and returns the results in the order of the elements.
func inPairs<Element: Sendable, Result: Sendable>(
  _ elements: [Element], _ work: @escaping @Sendable (Element) async throws -> Result
) async throws -> [Result] {
  try await withThrowingTaskGroup(of: (Int, Result).self) { group in
    var results: [Int: Result] = [:]
    for (index, element) in elements.enumerated() {
      if index >= 2, let (done, result) = try await group.next() { results[done] = result }
      group.addTask { (index, try await work(element)) }
    }
    for try await (done, result) in group { results[done] = result }
    return elements.indices.compactMap { results[$0] }
  }
}

extension Checker {
  /// All programs, in the order of the table.
  static let all = [openh264, faad, ffmpeg, copies, mediainfo, exiftool, djpeg, webpinfo, avifdec, vips, chromium]
}
