/// What users comment on and report, and moderators decide about: a record of a kind with the id of one.
package struct RecordID: Sendable, Hashable {
  package struct Kind: Sendable, Hashable {
    /// In the API and in the database.
    package let name: String
    /// Whether the app assigns the ids.
    package let isNamed: Bool

    package init(_ name: String, isNamed: Bool = false) {
      self.name = name
      self.isNamed = isNamed
    }

    package static let post = Kind("post")
    package static let comment = Kind("comment")
    package static let user = Kind("user", isNamed: true)
    package static let place = Kind("place", isNamed: true)
    /// A reaction, a profile image, a thumbnail or a photo of a place.
    package static let image = Kind("image")
    package static let collection = Kind("collection")
  }

  package let kind: Kind
  /// The id that the app assigned, or the text of a `PublicID`.
  package let id: String

  /// Returns nil if the text is no id of a record of this kind.
  package init?(_ kind: Kind, _ text: String) {
    guard let id = kind.isNamed ? text : PublicID(text)?.description else { return nil }
    self.init(kind: kind, id: id)
  }

  /// A record whose id the service assigned.
  package init(_ kind: Kind, _ id: PublicID) { self.init(kind: kind, id: id.description) }

  private init(kind: Kind, id: String) {
    self.kind = kind
    self.id = id
  }

  package static func post(_ id: PublicID) -> RecordID { RecordID(.post, id) }
  package static func comment(_ id: PublicID) -> RecordID { RecordID(.comment, id) }
  package static func user(_ id: String) -> RecordID { RecordID(kind: .user, id: id) }
  package static func place(_ id: String) -> RecordID { RecordID(kind: .place, id: id) }
  package static func image(_ id: PublicID) -> RecordID { RecordID(.image, id) }
  package static func collection(_ id: PublicID) -> RecordID { RecordID(.collection, id) }

  /// The id of what the service names; nil: the app assigned the id.
  package var publicID: PublicID? { kind.isNamed ? nil : PublicID(id) }
}
