import Model

/// Any JSON, in which one value is replaced at a time.
indirect enum JSONNode: Decodable, Hashable, Sendable {
  case object([String: JSONNode])
  case array([JSONNode])
  case number(Double)
  case text(String)
  case flag(Bool)
  case null

  /// A step to a value.
  enum Step: Hashable, Sendable {
    case key(String)
    case index(Int)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let elements = try? container.decode([JSONNode].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([String: JSONNode].self))
    }
  }

  /// The value as JSON.
  var json: String {
    switch self {
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.json)" }.joined(separator: ",") + "}"
    case .array(let elements): "[" + elements.map(\.json).joined(separator: ",") + "]"
    case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .text(let text): "\"\(text)\""
    case .flag(let flag): "\(flag)"
    case .null: "null"
    }
  }

  /// The paths of all values below this one, in the order of their keys.
  var paths: [[Step]] {
    switch self {
    case .object(let members):
      members.sorted { $0.key < $1.key }.flatMap { key, value in
        [[.key(key)]] + value.paths.map { [.key(key)] + $0 }
      }
    case .array(let elements):
      elements.enumerated().flatMap { index, value in [[.index(index)]] + value.paths.map { [.index(index)] + $0 } }
    default: []
    }
  }

  subscript(path: ArraySlice<Step>) -> JSONNode {
    get {
      guard let step = path.first else { return self }
      switch (self, step) {
      case (.object(let members), .key(let key)): return members[key].map { $0[path.dropFirst()] } ?? .null
      case (.array(let elements), .index(let index)): return elements[index][path.dropFirst()]
      default: return .null
      }
    }
    set {
      guard let step = path.first else {
        self = newValue
        return
      }
      switch (self, step) {
      case (.object(var members), .key(let key)):
        var member = members[key] ?? .object([:])
        member[path.dropFirst()] = newValue
        members[key] = member
        self = .object(members)
      case (.array(var elements), .index(let index)):
        elements[index][path.dropFirst()] = newValue
        self = .array(elements)
      default: break
      }
    }
  }

  /// Whether both are objects, numbers and so on.
  func isLike(_ other: JSONNode) -> Bool {
    switch (self, other) {
    case (.object, .object), (.array, .array), (.number, .number), (.text, .text), (.flag, .flag), (.null, .null): true
    default: false
    }
  }
}

extension [JSONNode.Step] {
  /// The path as in messages, such as `outputs.composed.seconds[0]`.
  var text: String {
    reduce(into: "") { text, step in
      switch step {
      case .key(let key): text += (text.isEmpty ? "" : ".") + key
      case .index(let index): text += "[\(index)]"
      }
    }
  }
}
