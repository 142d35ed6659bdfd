internal import Platform

/// The part of a document that a program writes, between two comments that no reader sees.
struct MarkedSection {
  /// Of the Makefile.
  let target: String

  var begin: String { "<!-- written by 'make \(target)': begin -->" }
  var end: String { "<!-- written by 'make \(target)': end -->" }

  /// What stands between the marks of a document.
  func inside(_ path: String) throws -> String {
    let text = try Self.content(path)
    return String(text[try range(in: text, of: path)])
  }

  /// Writes a text between the marks of a document, instead of what stands there.
  func replace(_ section: String, in path: String) throws {
    var text = try Self.content(path)
    text.replaceSubrange(try range(in: text, of: path), with: "\n\(section)\n")
    try Descriptor(writing: path, replacing: true).write(Array(text.utf8))
  }

  private static func content(_ path: String) throws -> String {
    String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self)
  }

  private func range(in text: String, of path: String) throws -> Range<String.Index> {
    guard let begin = text.firstRange(of: begin), let end = text.firstRange(of: end), begin.upperBound <= end.lowerBound
    else { throw BenchError("\(path) lacks the lines \(begin) and \(end)") }
    return begin.upperBound..<end.lowerBound
  }
}
