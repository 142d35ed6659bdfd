import FoundationEssentials
internal import HTTPServer
internal import Kit
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
      fields: change.fields.applied(to: nil) ?? [:], items: change.items ?? [])
    try change.check(content.fields)
  }
}

/// What clients write of a membership: the role that the author gives, or the answer of its user.
enum MembershipDraft {
  /// `invites`: whether to ask the user first; nil: as the kind of the collection has it.
  case role(Membership.Role, invites: Bool?)
  case answer(Membership.State)

  private enum Answer: String, CaseIterable { case accepted, declined }

  /// - Parameter joins: whether the request is that of the user, who then accepts without saying it.
  init(_ fields: [String: JSONValue], joins: Bool) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let state = reader.choice("state", of: Answer.self)
    let isAnswer = state != nil || joins && fields["role"] == nil
    let role = reader.choice("role", of: Membership.Role.self, isRequired: !isAnswer)
    let invites: Bool? = reader.value("invite", "expected true or false") { value in
      if case .boolean(let flag) = value { flag } else { nil }
    }
    if isAnswer {
      for name in ["role", "invite"] where fields[name] != nil {
        reader.refuse(name, "is for the author to say, without state; remove it")
      }
    }
    let errors = reader.finish()
    guard errors.isEmpty else { throw ProblemKind.invalid(errors) }
    if let role {
      self = .role(role, invites: invites)
    } else {
      self = .answer(state == .declined ? .declined : .accepted)
    }
  }
}

/// A merge patch of a collection (RFC 7396): absent fields stay, null removes a field, and a list of items replaces all.
struct CollectionChange {
  private let kind: CollectionDefinition
  private(set) var name: String?
  private(set) var visibility: Visibility?
  private(set) var fields: FieldChange
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
    name = reader.displayName("name", isRequired: requiresName, allowsEmpty: false)
    visibility = reader.choice("visibility", of: Visibility.self)
    for field in ["name", "visibility"] where !requiresName && body[field] == .null {
      errors.append(FieldError(field, "must not be removed"))
    }
    fields = reader.fieldChange(by: kind.fields, among: body, isWhole: requiresName)
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
      if !requiresName, Self.isHidden(fields, kind) {
        items.append(CollectionItem(subject: .hidden, fields: [:]))
        continue
      }
      var reader = FieldReader(fields, path: "items[\(index)]")
      let subject = Self.subject(&reader, kind.items.of)
      let values = reader.values(of: kind.items.fields)
      errors += reader.finish()
      if let subject { items.append(CollectionItem(subject: subject, fields: values.compactMapValues(\.self))) }
    }
    var seen: Set<[UInt8]> = []
    for (index, item) in items.enumerated() {
      guard let bytes = item.subject.bytes, !seen.insert(bytes).inserted else { continue }
      errors.append(FieldError("items[\(index)]", "is in the list already"))
    }
    self.items = items
  }

  /// Returns the content after the change; throws a problem if it is not valid as a whole.
  func applied(to content: CollectionContent) throws(Problem) -> (content: CollectionContent, keys: [String]) {
    var changed = content
    changed.name = name ?? content.name
    changed.visibility = visibility ?? content.visibility
    changed.fields = fields.applied(to: content.fields) ?? [:]
    try check(changed.fields)
    changed.items = items
    var keys = changed.fields.keys.filter { changed.fields[$0] != content.fields[$0] }
    keys += content.fields.keys.filter { changed.fields[$0] == nil }
    if changed.name != content.name { keys.append("name") }
    if changed.visibility != content.visibility { keys.append("visibility") }
    if let items, items != content.items { keys.append("items") }
    return (changed, keys.sorted())
  }

  fileprivate func check(_ values: [String: FieldValue]) throws(Problem) {
    guard let wrong = kind.misplacedDate(in: values) else { return }
    throw ProblemKind.invalid([FieldError("fields.\(wrong.field)", "must not be before \(wrong.before)")])
  }

  /// Whether an item stands for a post that the client does not see.
  private static func isHidden(_ fields: [String: JSONValue], _ kind: CollectionDefinition) -> Bool {
    kind.items.of == .post && fields["hidden"] == .boolean(true) && fields["post", default: .null] == .null
      && fields.keys.allSatisfy { ["post", "hidden"].contains($0) }
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
  /// PostgreSQL compares ids by their bytes; nil: it has none.
  fileprivate var bytes: [UInt8]? {
    switch self {
    case .hidden: nil
    case .place(let id): Array(id.utf8)
    case .post(let id): Array(id.description.utf8)
    }
  }
}
