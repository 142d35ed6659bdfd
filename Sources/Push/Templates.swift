import Model

/// Titles and bodies of notifications by kind and locale, from `jobs/notifications.json`.
package struct Templates: Sendable {
  /// A title or a body: texts between named places.
  fileprivate struct Text: Sendable {
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

  private struct File: Decodable {
    struct Message: Decodable {
      let title: String
      let body: String
    }

    let defaultLocale: String
    let kinds: [String: [String: Message]]
  }

  private let defaultLocale: String
  private let kinds: [String: [String: (title: Text, body: Text)]]

  /// Reads templates.
  ///
  /// - Parameter places: the kinds that the file must have, with the places that each may name.
  /// - Throws: `invalidTemplates` for other kinds and places, for a kind without a text in the default locale, and for a locale that is
  ///   not a language tag such as `de` or `de-AT` (RFC 5646).
  package init(json: [UInt8], places: [String: Set<String>]) throws(PushError) {
    let file: File
    do { file = try JSON.decode(File.self, from: json) } catch {
      throw PushError(.invalidTemplates, JSON.reason(error))
    }
    let unknown = Set(file.kinds.keys).symmetricDifference(places.keys)
    guard unknown.isEmpty else {
      throw PushError(
        .invalidTemplates, "kinds that are missing or unknown: \(unknown.sorted().joined(separator: ", "))")
    }
    defaultLocale = file.defaultLocale.lowercased()
    var kinds: [String: [String: (title: Text, body: Text)]] = [:]
    for (kind, messages) in file.kinds {
      for (locale, message) in messages {
        func parsed(_ text: String, _ name: String) throws(PushError) -> Text {
          guard let text = Text(text), text.places.isSubset(of: places[kind] ?? []) else {
            throw PushError(.invalidTemplates, "\(kind).\(locale).\(name): a place is malformed or unknown")
          }
          return text
        }
        guard Self.isTag(locale) else { throw PushError(.invalidTemplates, "\(kind).\(locale): not a language tag") }
        kinds[kind, default: [:]][locale.lowercased()] = (
          try parsed(message.title, "title"), try parsed(message.body, "body")
        )
      }
      guard kinds[kind]?[defaultLocale] != nil else {
        throw PushError(.invalidTemplates, "\(kind): no text in the default locale, \(file.defaultLocale)")
      }
    }
    self.kinds = kinds
  }

  /// The title and the body of a kind, which the file has, in a locale such as `de-AT`, else in `de`, else in the default. A place
  /// without a value stays empty.
  package func text(_ kind: String, locale: String?, _ values: [String: String]) -> (title: String, body: String)? {
    guard let messages = kinds[kind] else { return nil }
    var tag = (locale ?? defaultLocale).lowercased().replacing("_", with: "-")[...]
    while messages[String(tag)] == nil {
      tag = tag.lastIndex(of: "-").map { tag[..<$0] } ?? defaultLocale[...]
    }
    return messages[String(tag)].map { ($0.title.filled(values), $0.body.filled(values)) }
  }

  private static func isTag(_ text: String) -> Bool {
    text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy {
      1...8 ~= $0.utf8.count && $0.utf8.allSatisfy(\.isAlphanumeric)
    }
  }
}
