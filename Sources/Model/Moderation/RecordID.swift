/// What users comment on and report, and moderators decide about: a record of a kind with the id of one.
package struct RecordID: Sendable, Hashable {
  /// The raw values name the kinds in the API and in the database.
  package enum Kind: String, Sendable, CaseIterable, CodingKey {
    case post
    case comment
    case user
    case place
    /// A reaction, a profile image, a thumbnail or a photo of a place.
    case image
    case collection

    /// Whether the app assigns the ids.
    package var isNamed: Bool { self == .user || self == .place }
  }

  package let kind: Kind
  /// The id that the app assigned, or the text of a `PublicID`.
  package let id: String

  /// Returns nil if the text is no id of a record of this kind.
  package init?(_ kind: Kind, _ text: String) {
    guard let id = kind.isNamed ? text : PublicID(text)?.description else { return nil }
    self.init(kind: kind, id: id)
  }

  private init(kind: Kind, id: String) {
    self.kind = kind
    self.id = id
  }

  package static func post(_ id: PublicID) -> RecordID { RecordID(kind: .post, id: id.description) }
  package static func comment(_ id: PublicID) -> RecordID { RecordID(kind: .comment, id: id.description) }
  package static func user(_ id: String) -> RecordID { RecordID(kind: .user, id: id) }
  package static func place(_ id: String) -> RecordID { RecordID(kind: .place, id: id) }
  package static func image(_ id: PublicID) -> RecordID { RecordID(kind: .image, id: id.description) }
  package static func collection(_ id: PublicID) -> RecordID { RecordID(kind: .collection, id: id.description) }

  /// The id of what the service names; nil: the app assigned the id.
  package var publicID: PublicID? { kind.isNamed ? nil : PublicID(id) }
}
