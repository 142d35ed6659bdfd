internal import Kit
internal import Model
internal import Push

/// What the operator says to all users, by locale.
struct MessageTexts: Codable, Sendable, Hashable {
  struct Text: Codable, Sendable, Hashable {
    let title: String
    let body: String
  }

  private static let maxLocales = 200
  private static let maxTitle = 200
  private static let maxBody = 1000

  let defaultLocale: String
  let texts: [String: Text]

  /// Nil: it is not one of this version's.
  init?(stored: String?) {
    guard let stored else { return nil }
    do { self = try JSON.decode(Self.self, from: Array(stored.utf8)) } catch { return nil }
  }

  /// Reads `texts`, and `default_locale`, which one text does not need.
  init?(_ reader: inout FieldReader) {
    let given = reader.text("default_locale", limit: MaxLength.name)?.lowercased().replacing("_", with: "-")
    let locales = reader.names(in: "texts")
    let texts: [String: Text]? = reader.object("texts") { reader in
      var texts: [String: Text] = [:]
      for locale in locales.prefix(Self.maxLocales) {
        guard DeviceDraft.locale(.string(locale)) != nil else {
          reader.refuse(locale, "is not a language tag such as \"de\" or \"de-AT\"")
          continue
        }
        let text: Text? = reader.object(locale) { reader in
          Text(
            title: reader.displayName("title", limit: Self.maxTitle, isRequired: true, allowsEmpty: false) ?? "",
            body: reader.prose("body", limit: Self.maxBody, isRequired: true, allowsEmpty: false) ?? "")
        }
        if let text { texts[locale.lowercased().replacing("_", with: "-")] = text }
      }
      return texts
    }
    guard let texts, !texts.isEmpty else {
      reader.refuse("texts", "expected texts such as {\"en\": {\"title\": …, \"body\": …}}")
      return nil
    }
    guard let locale = given ?? (texts.count == 1 ? texts.keys.first : nil), texts[locale] != nil else {
      reader.refuse("default_locale", "expected the locale of one of the texts")
      return nil
    }
    (defaultLocale, self.texts) = (locale, texts)
  }

  /// The text for a locale such as `de-AT`, else for `de`, else the default.
  func text(locale: String?) -> (title: String, body: String)? {
    Templates.tags(locale, default: defaultLocale).lazy.compactMap { texts[$0] }.first.map { ($0.title, $0.body) }
  }
}
