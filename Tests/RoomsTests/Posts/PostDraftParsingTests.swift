import FoundationEssentials
import HTTPServer
import Model
import Platform
import Testing

@testable import Kit
@testable import Rooms

@Suite("Parsing of posts")
struct PostDraftParsingTests {
  /// Returns the fields in the errors of a post.
  private func invalidFields(_ json: String) -> [String] {
    do {
      _ = try PostDraft(json: Array(json.utf8), user: nil)
      return []
    } catch {
      guard case .list(let errors)? = error.members.first(where: { $0.name == "errors" })?.value else { return [] }
      return errors.compactMap { error in
        guard case .object(let members) = error, case .string(let field)? = members.first?.value else { return nil }
        return field
      }
    }
  }

  @Test("every field is read")
  func everyField() throws {
    let draft = try PostDraft(json: Array(SubmissionTests.fullPost.utf8), user: nil)
    let place = Place(id: "p1", name: "Lake", coordinate: Coordinate(latitude: 52.5, longitude: 13.4))
    #expect(
      draft
        == PostDraft(
          author: "ada", title: "Sunset", caption: "at the lake", visibility: .friends, place: place,
          location: Coordinate(latitude: 52.51, longitude: 13.41),
          capturedAt: Date(timeIntervalSince1970: 1_795_199_400), foreground: .back))
  }

  @Test("deeply nested JSON is malformed and does not overflow a small stack", arguments: [#"{"a":"#, "["])
  func deepNesting(level: String) async throws {
    // On a thread with the stack size of the handlers' threads.
    let failure = try await onThread("small-stack") {
      #expect(throws: Problem.self) {
        _ = try PostDraft(json: Array((#"{"author":"# + String(repeating: level, count: 500)).utf8), user: nil)
      }
    }
    let text = String(repeating: level, count: 400) + "1" + String(repeating: level == "[" ? "]" : "}", count: 400)
    let nested = try await onThread("small-stack") {
      #expect(throws: Problem.self) { _ = try PostDraft(json: Array((#"{"author":"# + text + "}").utf8), user: nil) }
    }
    #expect(failure != nil && nested != nil)
  }

  @Test("absent and null fields have their defaults")
  func defaults() throws {
    let draft = try PostDraft(json: Array(#"{"author":"ada","place":null,"visibility":null}"#.utf8), user: nil)
    #expect(draft == PostDraft(author: "ada"))
  }

  @Test(
    "every invalid field is named",
    arguments: [
      (#"{}"#, ["post.author"]),
      (#"{"author":""}"#, ["post.author"]),
      (#"{"author":7}"#, ["post.author"]),
      (#"{"author":null}"#, ["post.author"]),
      (#"{"author":"a\u0000"}"#, ["post.author"]),
      (#"{"author":"a","kind":"film"}"#, ["post.kind"]),
      (#"{"author":"a","kind":1}"#, ["post.kind"]),
      (#"{"author":"a","visibility":"all"}"#, ["post.visibility"]),
      (#"{"author":"a","foreground":"side"}"#, ["post.foreground"]),
      (#"{"author":"a","title":[]}"#, ["post.title"]),
      (#"{"author":"a","captured_at":"yesterday"}"#, ["post.captured_at"]),
      (#"{"author":"a","captured_at":1790000000}"#, ["post.captured_at"]),
      (#"{"author":"a","captured_at":"300000-01-01T00:00:00Z"}"#, ["post.captured_at"]),
      (#"{"author":"a","captured_at":"10000-01-01T00:00:00Z"}"#, ["post.captured_at"]),
      (#"{"author":"a","location":{"latitude":90.5,"longitude":0}}"#, ["post.location.latitude"]),
      (#"{"author":"a","location":{"latitude":0,"longitude":-181}}"#, ["post.location.longitude"]),
      (#"{"author":"a","location":{"latitude":"0"}}"#, ["post.location.latitude", "post.location.longitude"]),
      (#"{"author":"a","location":[1,2]}"#, ["post.location"]),
      (#"{"author":"a","place":{"name":"x"}}"#, ["post.place.id"]),
      (#"{"author":"a","place":{"id":"x","zoom":3}}"#, ["post.place.zoom"]),
      (
        #"{"author":"a","place":{"id":"x","coordinate":{"latitude":1,"longitude":999}}}"#,
        ["post.place.coordinate.longitude"]
      ),
      (#"{"author":"a","Title":"x","extra":{}}"#, ["post.Title", "post.extra"]),
      (#"{"kind":"x","extra":1}"#, ["post.kind", "post.author", "post.extra"]),
      (#"[]"#, ["post"]),
      (#""text""#, ["post"]),
      (#"{"author":"a""#, ["post"]),
      ("", ["post"]),
    ])
  func invalidFields(json: String, fields: [String]) { #expect(invalidFields(json) == fields) }

  @Test("texts have maximum lengths")
  func lengths() {
    let text = { (count: Int) in String(repeating: "é", count: count) }
    #expect(invalidFields(#"{"author":"\#(text(200))","title":"\#(text(200))","caption":"\#(text(5000))"}"#) == [])
    #expect(invalidFields(#"{"author":"a","alternative_text":"\#(text(1500))"}"#) == [])
    #expect(invalidFields(#"{"author":"a","alternative_text":"\#(text(1501))"}"#) == ["post.alternative_text"])
    #expect(
      invalidFields(#"{"author":"\#(text(201))","title":"\#(text(201))","caption":"\#(text(5001))"}"#)
        == ["post.author", "post.title", "post.caption"])
  }

  @Test("a hundred unknown fields are named, and more of them are counted")
  func unknown() {
    for (count, isNamed) in [(100, true), (101, false)] {
      let fields = (0..<count).map { #""x\#($0)":1"# }.joined(separator: ",")
      let found = invalidFields(#"{"author":"a",\#(fields)}"#)
      #expect(found.count == (isNamed ? count : 1) && found.first == (isNamed ? "post.x0" : "post"))
    }
  }

  @Test("JSON with thousands of levels is refused")
  func thousandsOfLevels() {
    let deep = String(repeating: #"{"a":"#, count: 20_000)
    #expect(invalidFields(deep) == ["post"])
    #expect(invalidFields(String(repeating: "[", count: 50_000)) == ["post"])
  }
}
