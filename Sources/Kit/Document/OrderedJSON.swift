/// A JSON value whose members keep their order, and whose strings and numbers stay as they are written.
enum OrderedJSON: Sendable, Hashable {
  case object([Member])
  case array([OrderedJSON])
  /// The text of a string, a number, true, false or null.
  case text(String)

  package struct Member: Sendable, Hashable {
    let name: String
    var value: OrderedJSON
  }

  /// What an object has in place of a member that it lacks.
  static let missing = OrderedJSON.object([])

  /// A string without characters that JSON escapes.
  static func string(_ text: String) -> OrderedJSON { .text("\"\(text)\"") }

  var members: [Member] { if case .object(let members) = self { members } else { [] } }
  var elements: [OrderedJSON] { if case .array(let elements) = self { elements } else { [] } }

  subscript(name: String) -> OrderedJSON {
    get { members.first { $0.name == name }?.value ?? .missing }
    set {
      var members = members
      if let index = members.firstIndex(where: { $0.name == name }) {
        members[index].value = newValue
      } else {
        members.append(Member(name: name, value: newValue))
      }
      self = .object(members)
    }
  }

  /// Returns an object with other values of the same members.
  func map(_ value: (Member) -> OrderedJSON) -> OrderedJSON {
    .object(members.map { Member(name: $0.name, value: value($0)) })
  }

  /// Returns an object with the members that it lacks.
  func adding(_ others: [Member]) -> OrderedJSON {
    .object(members + others.filter { self[$0.name] == .missing })
  }
}

extension OrderedJSON {
  /// Reads a valid JSON text without escapes in names.
  init(_ text: [UInt8]) {
    var rest = text[...]
    self.init(&rest)
  }

  private init(_ rest: inout ArraySlice<UInt8>) {
    switch Self.next(&rest) {
    case UInt8(ascii: "{"):
      self = .object(
        Self.items(&rest) { rest in
          let name = Self.text(&rest).dropFirst().dropLast()
          return Member(name: String(decoding: name, as: UTF8.self), value: OrderedJSON(&rest))
        })
    case UInt8(ascii: "["): self = .array(Self.items(&rest) { OrderedJSON(&$0) })
    default: self = .text(String(decoding: Self.text(&rest), as: UTF8.self))
    }
  }

  /// Takes what is between two brackets.
  private static func items<Item>(
    _ rest: inout ArraySlice<UInt8>, _ item: (inout ArraySlice<UInt8>) -> Item
  ) -> [Item] {
    var items: [Item] = []
    rest.removeFirst()
    while let byte = next(&rest), !"}]".utf8.contains(byte) { items.append(item(&rest)) }
    _ = rest.popFirst()
    return items
  }

  /// The first byte of the next value, or the end of an object or an array.
  private static func next(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
    rest = rest.drop { " \n,:".utf8.contains($0) }
    return rest.first
  }

  /// Takes a string with its quotation marks, or a value up to the byte behind it.
  private static func text(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = rest
    if rest.popFirst() == UInt8(ascii: "\"") {
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        if byte == UInt8(ascii: "\\") { _ = rest.popFirst() }
      }
    } else {
      rest = rest.drop { !" \n,]}".utf8.contains($0) }
    }
    return start.prefix(upTo: rest.startIndex)
  }

  /// The text without white space, in UTF-8.
  var bytes: [UInt8] { Array(text.utf8) }

  private var text: String {
    switch self {
    case .object(let members): "{\(members.map { "\"\($0.name)\":\($0.value.text)" }.joined(separator: ","))}"
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .text(let text): text
    }
  }
}
