import FoundationEssentials
import Model

/// Any JSON, for comparisons.
indirect enum JSONTree: Decodable, Hashable, Sendable {
  case object([String: JSONTree])
  case array([JSONTree])
  /// The text of any other value.
  case scalar(String)
  case null

  init(parsing bytes: [UInt8]) throws { self = try JSONDecoder().decode(JSONTree.self, from: Data(bytes)) }

  /// The JSON of a value.
  init(_ value: some Encodable) throws { self = try JSONTree(parsing: JSON.encode(value)) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let members = try? container.decode([String: JSONTree].self) {
      self = .object(members)
    } else if let elements = try? container.decode([JSONTree].self) {
      self = .array(elements)
    } else if let flag = try? container.decode(Bool.self) {
      self = .scalar("\(flag)")
    } else if let number = try? container.decode(Double.self) {
      self = .scalar(try JSON.text(number))
    } else {
      self = .scalar(try JSON.text(container.decode(String.self)))
    }
  }

  /// The text of each value that is no object, by its path.
  var leaves: [String: String] { leaves(at: "") }

  private func leaves(at path: String) -> [String: String] {
    guard case .object(let members) = self else { return [path: text] }
    return members.reduce(into: [:]) { leaves, member in
      leaves.merge(member.value.leaves(at: Self.path(path, member.key))) { first, _ in first }
    }
  }

  /// The paths at which another tree has another value, with the text of both; nil: it has none there.
  func changes(to other: JSONTree) -> [(path: String, before: String?, after: String?)] {
    let (ours, theirs) = (leaves, other.leaves)
    return Set(ours.keys).union(theirs.keys).sorted().filter { ours[$0] != theirs[$0] }.map { path in
      (path, ours[path], theirs[path])
    }
  }

  /// The paths of the keys that another tree does not have; those without a value are left out.
  func keys(missingIn other: JSONTree, at path: String = "") -> [String] {
    guard case .object(let members) = self else { return [] }
    let others: [String: JSONTree] = if case .object(let members) = other { members } else { [:] }
    return members.sorted { $0.key < $1.key }.flatMap { key, value -> [String] in
      let path = Self.path(path, key)
      guard let other = others[key] else { return value == .null ? [] : [path] }
      return value.keys(missingIn: other, at: path)
    }
  }

  private static func path(_ parent: String, _ key: String) -> String { parent.isEmpty ? key : "\(parent).\(key)" }

  private var text: String {
    switch self {
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value.text)" }.joined(separator: ", ") + "}"
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .scalar(let text): text
    case .null: "null"
    }
  }
}
