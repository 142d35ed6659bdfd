import Definitions
import Push
import Testing

@Suite("Templates of notifications")
struct TemplatesTests {
  private static let places: [String: Set<String>] = ["comment": ["name", "text"], "window": []]

  private func templates(
    comment: String = #""en": {"title": "{name}", "body": "{name}: {text}"}"#,
    window: String = #""en": {"title": "Now", "body": "Film"}, "de": {"title": "Jetzt", "body": "Film"}"#,
    more: String = ""
  ) throws(PushError) -> Templates {
    let text = #"{"default_locale": "en", "kinds": {"comment": {\#(comment)}, "window": {\#(window)}\#(more)}}"#
    return try Templates(json: Array(text.utf8), places: Self.places)
  }

  @Test("named places are filled, and what fills them is not read for places")
  func filled() throws {
    let text = try templates().text("comment", locale: "en", ["name": "{text}", "text": "}{"])
    #expect(text?.title == "{text}" && text?.body == "{text}: }{")
    #expect(try templates().text("comment", locale: "en", [:])?.body == ": ")
    #expect(try templates().text("other", locale: "en", [:]) == nil)
  }

  @Test(
    "a locale falls back to its language, and then to the default",
    arguments: [
      ("de", "Jetzt"), ("de-AT", "Jetzt"), ("de_AT", "Jetzt"), ("DE-at", "Jetzt"), ("de-Latn-AT", "Jetzt"),
      ("den", "Now"), ("fr-FR", "Now"), ("", "Now"), ("-", "Now"), ("en-GB", "Now"), (nil, "Now"),
    ] as [(String?, String)])
  func fallback(locale: String?, title: String) throws {
    #expect(try templates().text("window", locale: locale, [:])?.title == title)
  }

  @Test("an exact locale comes before its language")
  func exact() throws {
    let window =
      #""en": {"title": "a", "body": ""}, "de": {"title": "b", "body": ""}, "de-AT": {"title": "c", "body": ""}"#
    #expect(try templates(window: window).text("window", locale: "de-at", [:])?.title == "c")
    #expect(try templates(window: window).text("window", locale: "de-CH", [:])?.title == "b")
  }

  @Test(
    "a file with a fault is refused, and the fault is named",
    arguments: [
      (#""en": {"title": "{place}", "body": ""}"#, "comment.en.title"),
      (#""en": {"title": "", "body": "{name"}"#, "comment.en.body"),
      (#""en": {"title": "", "body": "name}"}"#, "comment.en.body"),
      (#""en": {"title": "", "body": "{}"}"#, "comment.en.body"),
      (#""en": {"title": "", "body": "{{name}}"}"#, "comment.en.body"),
      (#""de": {"title": "", "body": ""}"#, "default locale"),
      (#""en": {"title": ""}"#, "body is missing"),
      (#""en": {"title": "", "body": ""}, "d_e": {"title": "", "body": ""}"#, "comment.d_e"),
    ])
  func refused(comment: String, problem: String) throws {
    let error = #expect(throws: PushError.self) { try templates(comment: comment) }
    #expect(
      error?.code == .invalidTemplates && error?.description.contains(problem) == true, "\(String(describing: error))")
  }

  @Test("the kinds of the file are those of the program")
  func kinds() throws {
    let error = #expect(throws: PushError.self) { try templates(more: #", "other": {}"#) }
    #expect(error?.description.contains("other") == true)
    #expect(throws: PushError.self) { try Templates(json: Definitions.notifications, places: [:]) }
  }
}
