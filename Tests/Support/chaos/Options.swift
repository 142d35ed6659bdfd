/// The words after a verb, in pairs: `--name value`.
struct Options {
  private let values: [String: String]

  init(_ words: [String]) {
    var values: [String: String] = [:]
    for place in stride(from: 0, to: words.count - 1, by: 2) { values[words[place]] = words[place + 1] }
    self.values = values
  }

  /// A text; missing it is a fault of the caller.
  func text(_ name: String) throws -> String {
    guard let value = values[name] else { throw OptionError(description: "\(name) is missing") }
    return value
  }

  /// A text; nil where it was not given.
  func text(ifAny name: String) -> String? { values[name] }

  /// A number, or what stands for it.
  func number<Number: LosslessStringConvertible>(_ name: String, _ otherwise: Number) throws -> Number {
    guard let text = values[name] else { return otherwise }
    guard let number = Number(text) else { throw OptionError(description: "\(name) is no number: \(text)") }
    return number
  }
}

/// What is wrong with the words.
struct OptionError: Error, CustomStringConvertible {
  let description: String
}
