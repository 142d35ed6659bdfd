import FoundationEssentials
internal import Kit
internal import Model

/// The JSON of a collection; `items` is absent in a list of collections.
struct CollectionResponse: Encodable {
  private let collection: StoredCollection
  private let urls: MediaURLs

  init(_ collection: StoredCollection, _ urls: MediaURLs) {
    self.collection = collection
    self.urls = urls
  }

  /// The path of a collection.
  static func path(_ id: PublicID) -> String { "/v1/collections/\(id)" }

  private enum CodingKeys: String, CodingKey {
    case id, kind, name, author, visibility, fields, items, role, membership, link, hidden, counts, createdAt,
      updatedAt, thumbnail
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(collection.id, forKey: .id)
    try container.encode(collection.kind, forKey: .kind)
    try container.encode(collection.content.name, forKey: .name)
    try container.encode(collection.author, forKey: .author)
    try container.encode(collection.content.visibility, forKey: .visibility)
    try container.encode(collection.content.fields, forKey: .fields)
    try container.encodeIfPresent(collection.content.items?.map(CollectionItemResponse.init), forKey: .items)
    try container.encode(collection.role, forKey: .role)
    try container.encode(collection.membership, forKey: .membership)
    // Only the author gives and revokes the link.
    try container.encode(collection.role == .author ? collection.hasLink : nil, forKey: .link)
    try container.encode(collection.isHidden, forKey: .hidden)
    try container.encode(collection.counts, forKey: .counts)
    try container.encode(collection.createdAt, forKey: .createdAt)
    try container.encode(collection.updatedAt, forKey: .updatedAt)
    try container.encode(
      collection.thumbnail.mapValues { AssetResponse($0, urls, isPublic: collection.isThumbnailPublic) },
      forKey: .thumbnail)
  }
}

/// The JSON of an item of a collection: its fields, and its place or its post. Of a post that the client does not see it says so.
struct CollectionItemResponse: Encodable {
  let item: CollectionItem

  private enum HiddenKey: CodingKey { case post, hidden }

  func encode(to encoder: any Encoder) throws {
    var values = item.fields
    switch item.subject {
    case .place(let id): values["place"] = .text(id)
    case .post(let id): values["post"] = .text(id.description)
    case .hidden:
      var container = encoder.container(keyedBy: HiddenKey.self)
      try container.encodeNil(forKey: .post)
      return try container.encode(true, forKey: .hidden)
    }
    try values.encode(to: encoder)
  }
}

/// The JSON of a new link: its secret, which is not stored.
struct LinkResponse: Encodable {
  let link: String
  /// The path of the collection with the link.
  let url: String
}

/// The JSON of a collection in the archive of its author.
struct ExportedCollection: Encodable {
  let id: PublicID
  let kind: String
  let name: String
  let visibility: Visibility
  let fields: [String: FieldValue]
  let items: [CollectionItemResponse]
  let createdAt: Date

  init(_ collection: StoredCollection) {
    id = collection.id
    kind = collection.kind
    name = collection.content.name
    visibility = collection.content.visibility
    fields = collection.content.fields
    items = (collection.content.items ?? []).map(CollectionItemResponse.init)
    createdAt = collection.createdAt
  }
}

extension StoredCollection: Versioned {
  /// The content, without the counts, the members and the thumbnail.
  var version: some Encodable { ["id": "\(id)", "revision": "\(revision)"] }
}
