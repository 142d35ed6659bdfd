import FoundationEssentials
internal import HTTPServer
internal import Model

/// Reads what clients write in collections, by the definition of its kind.
struct CollectionDraft {
  var kind: CollectionDefinition
  var author: String
  var content: CollectionContent

  /// Reads a body; throws a problem that names every invalid field.
  ///
  /// - Parameters:
  ///   - kinds: the kinds of collections by name.
  ///   - user: the author of a collection that names none; nil: it must name one.
  init(_ fields: [String: JSONValue], kinds: [String: CollectionDefinition], user: String?) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let author = reader.author(actingAs: user)
    let expected = "expected one of " + kinds.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    let kind: CollectionDefinition? = reader.value("kind", expected, isRequired: true) { value in
      if case .string(let name) = value { kinds[name] } else { nil }
    }
    guard let kind else { throw ProblemKind.invalid(reader.errors) }
    let change = CollectionChange(&reader, fields, kind, requiresName: true)
    let errors = reader.finish() + change.errors
    guard errors.isEmpty else { throw ProblemKind.invalid(errors) }
    self.kind = kind
    self.author = author
    content = CollectionContent(
      name: change.name ?? "", visibility: change.visibility ?? .private,
      fields: change.fields.compactMapValues(\.self), items: change.items ?? [])
    try change.check(content.fields)
  }
}

/// A merge patch of a collection (RFC 7396): absent fields stay, null removes a field, and a list of items replaces all.
struct CollectionChange {
  private let kind: CollectionDefinition
  private(set) var name: String?
  private(set) var visibility: Visibility?
  /// The values that are set, and nil for those that are removed.
  private(set) var fields: [String: CollectionValue?] = [:]
  private(set) var items: [CollectionItem]?
  fileprivate var errors: [FieldError] = []

  /// Reads a body; throws a problem that names every invalid field.
  init(_ fields: [String: JSONValue], _ kind: CollectionDefinition) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    self.init(&reader, fields, kind, requiresName: false)
    let errors = reader.finish() + errors
    guard errors.isEmpty else { throw ProblemKind.invalid(errors) }
  }

  fileprivate init(
    _ reader: inout FieldReader, _ body: [String: JSONValue], _ kind: CollectionDefinition, requiresName: Bool
  ) {
    self.kind = kind
    name = reader.text("name", limit: MaxLength.name, isRequired: requiresName, allowsEmpty: false)
    visibility = reader.choice("visibility", of: Visibility.self)
    for field in ["name", "visibility"] where !requiresName && body[field] == .null {
      errors.append(FieldError(field, "must not be removed"))
    }
    var values: [String: CollectionValue?] = [:]
    _ = reader.object("fields") { reader -> Bool? in
      values = Self.values(&reader, kind.fields)
      return nil
    }
    fields = values
    if case .object(let given)? = body["fields"] {
      for (field, value) in given where value == .null && kind.fields[field] != nil {
        fields.updateValue(nil, forKey: field)
      }
    }
    let most = kind.items.max
    let list: [JSONValue]? = reader.value("items", "expected a list of up to \(CountText.text(most, "item"))") {
      value in
      if case .array(let values) = value, values.count <= most { values } else { nil }
    }
    guard let list else { return }
    var items: [CollectionItem] = []
    for (index, value) in list.enumerated() {
      guard case .object(let fields) = value else {
        errors.append(FieldError("items[\(index)]", "expected an object"))
        continue
      }
      var reader = FieldReader(fields, path: "items[\(index)]")
      let subject = Self.subject(&reader, kind.items.of)
      let values = Self.values(&reader, kind.items.fields)
      errors += reader.finish()
      if let subject { items.append(CollectionItem(subject: subject, fields: values.compactMapValues(\.self))) }
    }
    var seen: Set<[UInt8]> = []
    for (index, item) in items.enumerated() where !seen.insert(item.subject.bytes).inserted {
      errors.append(FieldError("items[\(index)]", "is in the list already"))
    }
    self.items = items
  }

  /// Returns the content after the change; throws a problem if it is not valid as a whole.
  func applied(to content: CollectionContent) throws(Problem) -> (content: CollectionContent, keys: [String]) {
    var changed = content
    changed.name = name ?? content.name
    changed.visibility = visibility ?? content.visibility
    for (field, value) in fields { changed.fields[field] = value }
    try check(changed.fields)
    changed.items = items
    var keys = changed.fields.keys.filter { changed.fields[$0] != content.fields[$0] }
    keys += content.fields.keys.filter { changed.fields[$0] == nil }
    if changed.name != content.name { keys.append("name") }
    if changed.visibility != content.visibility { keys.append("visibility") }
    if let items, items != content.items { keys.append("items") }
    return (changed, keys.sorted())
  }

  fileprivate func check(_ values: [String: CollectionValue]) throws(Problem) {
    guard let wrong = kind.misplacedDate(in: values) else { return }
    throw ProblemKind.invalid([FieldError("fields.\(wrong.field)", "must not be before \(wrong.before)")])
  }

  private static func values(
    _ reader: inout FieldReader, _ fields: [String: CollectionField]
  ) -> [String: CollectionValue?] {
    var values: [String: CollectionValue?] = [:]
    for (name, field) in fields {
      if let value = reader.value(name, field.expected, field.value) { values[name] = value }
    }
    return values
  }

  private static func subject(
    _ reader: inout FieldReader, _ kind: CollectionDefinition.ItemKind
  ) -> CollectionItem.Subject? {
    switch kind {
    case .place:
      reader.text("place", limit: MaxLength.name, isRequired: true, allowsEmpty: false)
        .map(CollectionItem.Subject.place)
    case .post:
      reader.value("post", "expected the id of a post", isRequired: true) { value in
        if case .string(let text) = value { PublicID(text).map(CollectionItem.Subject.post) } else { nil }
      }
    }
  }
}

extension CollectionItem.Subject {
  /// PostgreSQL compares ids by their bytes.
  fileprivate var bytes: [UInt8] {
    switch self {
    case .place(let id): Array(id.utf8)
    case .post(let id): Array(id.description.utf8)
    }
  }
}

extension CollectionField {
  fileprivate var expected: String {
    switch type {
    case .text: "expected a text of up to \(max ?? Self.maxText) characters"
    case .number: "expected a number"
    case .date: "expected a date such as \"2026-11-20\""
    case .boolean: "expected true or false"
    }
  }

  /// Reads a value; nil if it is not of the type.
  fileprivate func value(_ value: JSONValue) -> CollectionValue? {
    switch (type, value) {
    case (.text, .string(let text)):
      text.unicodeScalars.count <= max ?? Self.maxText && !text.unicodeScalars.contains("\0") ? .text(text) : nil
    case (.number, .number(let number)): number.isFinite ? .number(number) : nil
    case (.date, .string(let text)): Profile.isDate(text) ? .text(text) : nil
    case (.boolean, .boolean(let flag)): .boolean(flag)
    default: nil
    }
  }
}
