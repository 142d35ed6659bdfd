import Platform

/// The figures of a run, as they stand in a document between two marks.
struct FiguresDocument {
  private static let (begin, end) = ("<!-- figures -->", "<!-- end of figures -->")

  private let seed: UInt64
  private var sections: [String] = []

  init(seed: UInt64) { self.seed = seed }

  /// Adds what came of a part.
  mutating func add(_ part: String, _ figures: [(name: String, value: String)]) {
    let rows = figures.map { "| \($0.name) | \($0.value) |" }
    sections.append((["| \(part), seed \(seed) | |", "|---|---|"] + rows).joined(separator: "\n"))
  }

  /// Replaces what stands between the marks.
  func write(to path: String) throws {
    let text = String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
    guard let first = text.firstRange(of: Self.begin), let last = text.firstRange(of: Self.end) else {
      throw OptionError(description: "\(path) has no marks for figures")
    }
    let changed =
      text[..<first.upperBound] + "\n" + sections.joined(separator: "\n\n") + "\n" + text[last.lowerBound...]
    try Descriptor(writing: path, replacing: true).write(Array(changed.utf8))
  }
}
