import Model

/// Titles and bodies of notifications by kind and locale, from `jobs/notifications.json`.
package struct Templates: Sendable {
  /// What the texts of a kind may name, and the cases that may have texts of their own, such as `private` of `post_ready/private`.
  package struct Shape: Sendable {
    let places: Set<String>
    let cases: Set<String>

    package init(places: Set<String>, cases: Set<String> = []) {
      self.places = places
      self.cases = cases
    }
  }

  private struct File: Decodable {
    struct Message: Decodable {
      let title: WrittenText
      let body: WrittenText
    }

    let defaultLocale: String
    let kinds: [String: [String: Message]]
  }

  private typealias Message = (title: InflectedText, body: InflectedText)

  private let defaultLocale: String
  private let kinds: [String: [String: Message]]

  /// Reads templates.
  ///
  /// - Parameter shapes: the kinds that the file must have.
  /// - Throws: `invalidTemplates` for other kinds, cases and places, for a kind without a text in the default locale, and for a locale that
  ///   is not a language tag such as `de` or `de-AT` (RFC 5646).
  package init(json: [UInt8], shapes: [String: Shape]) throws(PushError) {
    let file: File
    do { file = try JSON.decode(File.self, written: json) } catch {
      throw PushError(.invalidTemplates, JSON.reason(error))
    }
    let optional = shapes.flatMap { kind, shape in shape.cases.map { "\(kind)/\($0)" } }
    let unknown = Set(file.kinds.keys).subtracting(optional).symmetricDifference(shapes.keys)
    guard unknown.isEmpty else {
      throw PushError(
        .invalidTemplates, "kinds that are missing or unknown: \(unknown.sorted().joined(separator: ", "))")
    }
    defaultLocale = file.defaultLocale.lowercased()
    var kinds: [String: [String: Message]] = [:]
    for (kind, messages) in file.kinds {
      let places = shapes[String(kind.prefix { $0 != "/" })]?.places ?? []
      for (locale, message) in messages {
        func parsed(_ text: WrittenText, _ name: String) throws(PushError) -> InflectedText {
          guard let text = InflectedText(text), text.places.isSubset(of: places) else {
            throw PushError(
              .invalidTemplates,
              "\(kind).\(locale).\(name): a place is malformed or unknown, or a plural has no \"by\" or no \"other\"")
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
  ///
  /// - Parameter cases: the cases that hold, the most specific first. A locale that lacks one has the text of the kind.
  package func text(
    _ kind: String, cases: [String] = [], locale: String?, _ values: [String: String]
  ) -> (title: String, body: String)? {
    let names = cases.map { "\(kind)/\($0)" } + [kind]
    for tag in Self.tags(locale, default: defaultLocale) {
      if let message = names.lazy.compactMap({ kinds[$0]?[tag] }).first {
        return (message.title.filled(values, locale: tag), message.body.filled(values, locale: tag))
      }
    }
    return nil
  }

  /// A locale, what it is a part of, and the default.
  package static func tags(_ locale: String?, default defaultLocale: String) -> [String] {
    let parts = (locale ?? defaultLocale).lowercased().replacing("_", with: "-").split(separator: "-")
    return (0..<parts.count).map { parts.dropLast($0).joined(separator: "-") } + [defaultLocale]
  }

  private static func isTag(_ text: String) -> Bool {
    text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy {
      1...8 ~= $0.utf8.count && $0.utf8.allSatisfy(\.isAlphanumeric)
    }
  }
}
