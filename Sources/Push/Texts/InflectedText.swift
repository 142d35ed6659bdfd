/// A title or a body as the file has it: a text, or texts by the plural categories of the number in a place.
enum WrittenText: Decodable {
  case text(String)
  case plural([String: String])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do { self = .text(try container.decode(String.self)) } catch {
      self = .plural(try container.decode([String: String].self))
    }
  }
}

/// A title or a body: texts between named places, for each plural category.
struct InflectedText: Sendable {
  /// The place whose number chooses; nil: there is one text.
  private let chooser: String?
  private let texts: [PluralCategory: PlacedText]
  private let other: PlacedText

  /// Nil: a brace has no partner, a place no name, a category is unknown, or a plural lacks `by` or `other`.
  init?(_ written: WrittenText) {
    switch written {
    case .text(let text):
      guard let text = PlacedText(text) else { return nil }
      (chooser, texts, other) = (nil, [:], text)
    case .plural(var texts):
      guard let chooser = texts.removeValue(forKey: "by"), let other = texts["other"].flatMap(PlacedText.init) else {
        return nil
      }
      var parsed: [PluralCategory: PlacedText] = [:]
      for (name, text) in texts {
        guard let category = PluralCategory(rawValue: name), let text = PlacedText(text) else { return nil }
        parsed[category] = text
      }
      (self.chooser, self.texts, self.other) = (chooser, parsed, other)
    }
  }

  var places: Set<String> {
    texts.values.reduce(into: other.places.union(chooser.map { [$0] } ?? [])) { $0.formUnion($1.places) }
  }

  func filled(_ values: [String: String], locale: String) -> String {
    let number = chooser.flatMap { values[$0] }.flatMap { Int($0) }
    let text = number.flatMap { texts[PluralCategory(of: $0, locale: locale)] } ?? other
    return text.filled(values)
  }
}

/// Texts between named places.
struct PlacedText: Sendable {
  private let parts: [(text: Substring, place: Substring?)]

  /// Parses a text such as `{name} posted`; nil if a brace has no partner or a place no name.
  init?(_ text: String) {
    var parts: [(text: Substring, place: Substring?)] = []
    var rest = text[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      let name = rest[rest.index(after: brace)...].prefix { $0 != "{" && $0 != "}" }
      guard rest[brace] == "{", name.endIndex < rest.endIndex, rest[name.endIndex] == "}", !name.isEmpty else {
        return nil
      }
      parts.append((rest[..<brace], name))
      rest = rest[rest.index(after: name.endIndex)...]
    }
    self.parts = parts + [(rest, nil)]
  }

  var places: Set<String> { Set(parts.compactMap { $0.place.map(String.init) }) }

  func filled(_ values: [String: String]) -> String {
    parts.map { $0.text + ($0.place.flatMap { values[String($0)] } ?? "") }.joined()
  }
}
