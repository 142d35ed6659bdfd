import Definitions
import Model
import Testing

@Suite("Fields that definitions name")
struct FieldDefinitionTests {
  private static func decode(_ text: String) throws -> RecordFields {
    try JSON.decode(RecordFields.self, from: Array(text.utf8))
  }

  @Test("without a definition of one's own, posts and users have no fields")
  func builtIn() throws {
    #expect(try Definitions.fields() == RecordFields())
  }

  @Test(
    "an invalid definition is refused with the key that is wrong",
    arguments: [
      (#"{"name":"others","version":1}"#, "name"), (#"{"name":"fields"}"#, "version"),
      (#"{"name":"fields","version":1,"posts":{"A":{"type":"text"}}}"#, "posts"),
      (#"{"name":"fields","version":1,"users":{"a.b":{"type":"text"}}}"#, "users"),
      (#"{"name":"fields","version":1,"users":{"a":{"type":"text","max":5001}}}"#, "users.a.max"),
      (#"{"name":"fields","version":1,"users":{"a":{"type":"number","max":5}}}"#, "users.a.max"),
      (#"{"name":"fields","version":1,"posts":{"a":{"type":"choice"}}}"#, "posts.a.choices"),
      (#"{"name":"fields","version":1,"posts":{"a":{"type":"choice","choices":[]}}}"#, "posts.a.choices"),
      (#"{"name":"fields","version":1,"posts":{"a":{"type":"choice","choices":["x","x"]}}}"#, "posts.a.choices"),
      (#"{"name":"fields","version":1,"posts":{"a":{"type":"choice","choices":[""]}}}"#, "posts.a.choices"),
      (#"{"name":"fields","version":1,"posts":{"a":{"type":"text","choices":["x"]}}}"#, "posts.a.choices"),
    ])
  func invalid(text: String, key: String) {
    let error = #expect(throws: DecodingError.self) { try Self.decode(text) }
    #expect(error.map { JSON.reason($0).hasPrefix(key) } == true, "\(error.map(JSON.reason) ?? "")")
  }

  @Test("a definition has at most 40 fields")
  func tooMany() throws {
    func fields(_ count: Int) -> String {
      (0..<count).map { #""f\#($0)":{"type":"text"}"# }.joined(separator: ",")
    }
    #expect(try Self.decode(#"{"name":"fields","version":1,"posts":{\#(fields(40))}}"#).posts.count == 40)
    #expect(throws: DecodingError.self) { try Self.decode(#"{"name":"fields","version":1,"posts":{\#(fields(41))}}"#) }
  }

  @Test("a change keeps, sets and removes values, or replaces all of them")
  func change() {
    let fields: [String: FieldValue] = ["a": .text("x"), "b": .number(1)]
    #expect(FieldChange.none.applied(to: fields) == fields && FieldChange.none.applied(to: nil) == nil)
    #expect(
      FieldChange(["b": nil, "c": .boolean(true)]).applied(to: fields) == ["a": .text("x"), "c": .boolean(true)])
    #expect(FieldChange(["c": .number(2)], replacesAll: true).applied(to: fields) == ["c": .number(2)])
    #expect(FieldChange([:], replacesAll: true).applied(to: fields) == nil)
  }
}
