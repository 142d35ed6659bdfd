import FoundationEssentials
import HTTPTesting

@testable import ControlAPI

extension ClientResponse {
  /// The body as JSON; null if it is none.
  var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: Data(body))) ?? .null }
}

extension JSONValue {
  /// A member of an object, null if there is none.
  subscript(_ name: String) -> JSONValue {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  /// An element of an array, null if there is none.
  subscript(_ index: Int) -> JSONValue {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { .null }
  }

  /// The elements of an array, none of anything else.
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// The text of a string.
  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The names of an object's members.
  var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }
}
