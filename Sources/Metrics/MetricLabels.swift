/// The labels of one time series, in the order of their names.
package struct MetricLabels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private let pairs: [Pair]

  private struct Pair: Sendable, Hashable {
    let name: String
    let value: String
  }

  package init(dictionaryLiteral elements: (String, String)...) {
    pairs = elements.map { Pair(name: $0.0, value: $0.1) }.sorted { $0.name < $1.name }
  }

  /// As they stand behind a name, with one more; empty without any.
  func text(and last: (name: String, value: String)? = nil) -> String {
    let all = pairs.map { ($0.name, $0.value) } + (last.map { [($0.name, $0.value)] } ?? [])
    return all.isEmpty ? "" : "{" + all.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
