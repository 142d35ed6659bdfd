/// A program by other hands that says what is wrong with outputs.
struct Judge: Sendable, CustomStringConvertible {
  let name: String
  /// The media types (RFC 6838) that it reads.
  let reads: Set<String>
  /// Why it cannot read an output, though it reads the type; nil: it can.
  let limit: @Sendable (Output) -> String?
  /// What is wrong with each of some outputs; an empty list: nothing.
  private let findings: @Sendable ([Output]) async throws -> [[String]]

  var description: String { name }

  /// A judge that looks at all outputs in one run.
  init(
    _ name: String, reads: Set<String>, limit: @escaping @Sendable (Output) -> String? = { _ in nil },
    all findings: @escaping @Sendable ([Output]) async throws -> [[String]]
  ) {
    self.name = name
    self.reads = reads
    self.limit = limit
    self.findings = findings
  }

  /// A judge that looks at one output in a run.
  init(
    _ name: String, reads: Set<String>, limit: @escaping @Sendable (Output) -> String? = { _ in nil },
    each findings: @escaping @Sendable (Output) async throws -> [String]
  ) {
    self.init(name, reads: reads, limit: limit) { outputs in try await inPairs(outputs, findings) }
  }

  /// What it says of one output.
  enum Cell: Hashable, Sendable {
    case passes
    /// It does not read this type.
    case unread
    /// It cannot read this output, which is no fault of the output.
    case limited(String)
    case fails([String])

    var fails: Bool { if case .fails = self { true } else { false } }
  }

  /// Judges outputs, one cell for each.
  func judge(_ outputs: [Output]) async throws -> [Cell] {
    let read = outputs.indices.filter { reads.contains(outputs[$0].type) && limit(outputs[$0]) == nil }
    let found = try await findings(read.map { outputs[$0] })
    var cells = outputs.map { output in
      reads.contains(output.type) ? limit(output).map(Cell.limited) ?? .passes : .unread
    }
    for (index, findings) in zip(read, found) where !findings.isEmpty { cells[index] = .fails(findings) }
    return cells
  }
}

/// Works on elements two at a time, and returns the results in their order.
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
