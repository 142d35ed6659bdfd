import Definitions
import Model
import Testing

@Suite("Kinds of collections")
struct CollectionDefinitionTests {
  private static func decode(_ text: String) throws -> CollectionDefinition {
    try JSON.decode(CollectionDefinition.self, from: Array(text.utf8))
  }

  @Test("the built-in kinds are an itinerary, favourites and an album")
  func builtIn() throws {
    let kinds = try Definitions.collections()
    #expect(kinds.keys.sorted() == ["album", "favourites", "itinerary"])
    #expect(kinds.values.map(\.items.of).filter { $0 == .post }.count == 1)
    #expect(kinds.allSatisfy { $0 == $1.name })
  }

  @Test(
    "an invalid definition is refused with the key that is wrong",
    arguments: [
      (#"{"name":"A b","version":1,"fields":{},"items":{"of":"place","max":1,"fields":{}}}"#, "name"),
      (
        #"{"name":"a","version":1,"fields":{"X":{"type":"text"}},"items":{"of":"place","max":1,"fields":{}}}"#, "fields"
      ),
      (#"{"name":"a","version":1,"fields":{"x":{"type":"list"}},"items":{"of":"place","max":1,"fields":{}}}"#, "type"),
      (
        #"{"name":"a","version":1,"fields":{"x":{"type":"date","max":3}},"items":{"of":"place","max":1,"fields":{}}}"#,
        "max"
      ),
      (#"{"name":"a","version":1,"fields":{},"items":{"of":"place","max":501,"fields":{}}}"#, "items"),
      (
        #"{"name":"a","version":1,"fields":{},"items":{"of":"place","max":1,"fields":{"post":{"type":"text"}}}}"#,
        "items"
      ),
      (
        #"{"name":"a","version":1,"fields":{},"order":["x","y"],"items":{"of":"place","max":1,"fields":{}}}"#, "order"
      ),
      (#"{"name":"a","version":1,"fields":{},"items":{"of":"user","max":1,"fields":{}}}"#, "items.of"),
    ])
  func invalid(text: String, key: String) {
    let error = #expect(throws: DecodingError.self) { try Self.decode(text) }
    #expect(error.map { JSON.reason($0).contains(key) } == true, "\(error.map(JSON.reason) ?? "")")
  }

  @Test("dates are in the order of the definition; one that is missing is passed over")
  func order() throws {
    let kind = try Self.decode(
      #"""
      {"name":"a","version":1,"fields":{"x":{"type":"date"},"y":{"type":"date"},"z":{"type":"date"}},
        "order":["x","y","z"],"items":{"of":"place","max":1,"fields":{}}}
      """#)
    #expect(kind.misplacedDate(in: ["x": .text("2026-01-02"), "z": .text("2026-01-02")]) == nil)
    let wrong = kind.misplacedDate(in: ["x": .text("2026-01-02"), "z": .text("2026-01-01")])
    #expect(wrong?.field == "z" && wrong?.before == "x")
  }
}
