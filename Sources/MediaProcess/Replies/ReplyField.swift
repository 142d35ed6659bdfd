import Model

/// A field of a reply. A value that it cannot have fails the request, with the name of the field.
struct ReplyField {
  /// The path in the reply: `verdict.reasons`.
  let name: String

  /// The number of entries that a list of a reply may have. The lists of honest replies have a few dozen.
  static let maxEntries = 64

  init(_ name: String) { self.name = name }

  /// A field of this field.
  subscript(_ part: String) -> ReplyField { ReplyField("\(name).\(part)") }
  /// An entry of this list.
  subscript(_ index: Int) -> ReplyField { ReplyField("\(name)[\(index)]") }

  /// Fails unless the value is possible.
  ///
  /// - Parameter finding: a clause whose subject is the field.
  func require(_ isPossible: Bool, _ finding: @autoclosure () -> String) throws(MediaFailure) {
    guard !isPossible else { return }
    throw MediaFailure(.protocolViolation, "the media process's reply is refused: \(name) \(finding())")
  }

  /// Fails unless the number, if there is one, is finite and in the range.
  func require(_ number: Double?, in range: ClosedRange<Double>) throws(MediaFailure) {
    guard let number else { return }
    try require(range.contains(number), "is \(number), which is not in \(range)")
  }

  /// Fails unless the number, if there is one, is in the range.
  func require(_ number: Int?, in range: ClosedRange<Int>) throws(MediaFailure) {
    guard let number else { return }
    try require(range.contains(number), "is \(number), which is not in \(range)")
  }

  /// Fails if the list has too many entries.
  func require(entries count: Int) throws(MediaFailure) {
    try require(count <= Self.maxEntries, "has \(count) entries; at most \(Self.maxEntries) are possible")
  }

  /// Fails if the text is not one of these.
  func require(_ text: String, among allowed: [String]) throws(MediaFailure) {
    try require(allowed.contains(text), "is '\(text.cleaned)', not one of \(allowed.joined(separator: ", "))")
  }

  /// Fails unless both sides are positive and their product is within the limit.
  func require(pixels size: Size, atMost limit: Int) throws(MediaFailure) {
    let sides = 1...Self.maxSide
    try require(
      sides.contains(size.width) && sides.contains(size.height) && size.width * size.height <= limit,
      "is \(size.width)x\(size.height); at most \(limit) pixels are accepted")
  }

  // Products and sums of sides fit into 64 bits.
  private static let maxSide = 1 << 28
}
