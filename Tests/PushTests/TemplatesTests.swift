import Definitions
import Push
import Testing

@Suite("Templates of notifications")
struct TemplatesTests {
  private static let shapes = [
    "comment": Templates.Shape(places: ["name", "text", "count"], cases: ["several"]),
    "window": Templates.Shape(places: []),
  ]

  private func templates(
    comment: String = #""en": {"title": "{name}", "body": "{name}: {text}"}"#,
    window: String = #""en": {"title": "Now", "body": "Film"}, "de": {"title": "Jetzt", "body": "Film"}"#,
    more: String = ""
  ) throws(PushError) -> Templates {
    let text = #"{"default_locale": "en", "kinds": {"comment": {\#(comment)}, "window": {\#(window)}\#(more)}}"#
    return try Templates(json: Array(text.utf8), shapes: Self.shapes)
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
      (#""en": {"title": {"one": "a", "other": "b"}, "body": ""}"#, "comment.en.title"),
      (#""en": {"title": {"by": "count", "one": "a"}, "body": ""}"#, "comment.en.title"),
      (#""en": {"title": {"by": "count", "single": "a", "other": "b"}, "body": ""}"#, "comment.en.title"),
      (#""en": {"title": {"by": "others", "other": "b"}, "body": ""}"#, "comment.en.title"),
      (#""en": {"title": {"by": "count", "few": "{place}", "other": "b"}, "body": ""}"#, "comment.en.title"),
      (#""en": {"title": "", "body": ""}, "d_e": {"title": "", "body": ""}"#, "comment.d_e"),
    ])
  func refused(comment: String, problem: String) throws {
    let error = #expect(throws: PushError.self) { try templates(comment: comment) }
    #expect(
      error?.code == .invalidTemplates && error?.description.contains(problem) == true, "\(String(describing: error))")
  }

  @Test("a case has a text of its own where its locale has one, and a plural follows the locale's rules")
  func cases() throws {
    let counted = #"{"by": "count", "one": "one", "other": "{count}"}"#
    let several = #", "comment/several": {"en": {"title": \#(counted), "body": ""}}"#
    let inflected = #"{"by": "count", "few": "kilka", "many": "wiele", "other": ""}"#
    let polish = #""en": {"title": "", "body": ""}, "pl": {"title": \#(inflected), "body": ""}"#
    let templates = try templates(comment: polish, more: several)
    func title(_ count: Int, _ locale: String) -> String? {
      templates.text("comment", cases: count > 1 ? ["several", "other"] : [], locale: locale, ["count": "\(count)"])?
        .title
    }
    #expect([1, 2].map { title($0, "en-US") } == ["", "2"])
    #expect([1, 2, 5, 22, 25].map { title($0, "pl") } == ["", "kilka", "wiele", "kilka", "wiele"])
    #expect(throws: PushError.self) { try self.templates(more: several.replacing("several", with: "many")) }
  }

  @Test(
    "the plural categories of numbers follow CLDR's rules",
    arguments: [
      ("en", "one 1, other 0 2 5 100"), ("fr-FR", "one 0 1, other 2 17, many 1000000 3000000"),
      ("de-AT", "one 1, other 0 2 1000000"), ("ja", "other 0 1 2"), ("hi", "one 0 1, other 2"),
      ("pt", "one 0 1, other 2, many 1000000"), ("pt-PT", "one 1, other 0 2, many 1000000"),
      ("ru", "one 1 21 101, few 2 3 24 102, many 0 5 11 12 14 111"), ("pl", "one 1, few 2 4 22, many 0 5 12 21 25"),
      ("cs", "one 1, few 2 4, other 0 5 22"), ("sl", "one 1 101, two 2 102, few 3 4 103, other 0 5 11"),
      ("ar", "zero 0, one 1, two 2, few 3 10 103, many 11 99 111, other 100 101 102 200"),
      ("he", "one 1, two 2, other 0 3 10 20"), ("lt", "one 1 21, few 2 9 22, other 0 10 11 19 20"),
      ("lv", "zero 0 10 11 19 20 111, one 1 21, other 2 9 22"), ("ro", "one 1, few 0 2 19 101, other 20 100"),
      ("hr", "one 1 21, few 2 4 22, other 0 5 11 12"), ("ga", "one 1, two 2, few 3 6, many 7 10, other 0 11"),
      ("cy", "zero 0, one 1, two 2, few 3, many 6, other 4 5 7"), ("xx", "other 0 1 2"),
      ("mt", "one 1, two 2, few 0 3 10 103, many 11 19 111, other 20 101 102"),
      ("gd", "one 1 11, two 2 12, few 3 10 13 19, other 0 20"),
    ])
  func plurals(locale: String, expected: String) {
    for form in expected.split(separator: ", ") {
      let parts = form.split(separator: " ")
      for number in parts.dropFirst().compactMap({ Int($0) }) {
        #expect(PluralCategory(of: number, locale: locale).rawValue == parts[0], "\(locale) \(number)")
      }
    }
  }

  @Test("the file has the kinds of the program")
  func kinds() throws {
    let error = #expect(throws: PushError.self) { try templates(more: #", "other": {}"#) }
    #expect(error?.description.contains("other") == true)
    #expect(throws: PushError.self) { try Templates(json: Definitions.notifications, shapes: [:]) }
  }
}
