/// A JSON document in `jobs/` that says which fields posts and users have.
package struct RecordFields: Codable, Sendable, Hashable {
  /// The name of each such definition.
  package static let name = "fields"

  package var name: String
  package var version: Int
  /// The fields of a post, by name.
  package var posts: [String: FieldDefinition]
  /// The fields of a user, by name.
  package var users: [String: FieldDefinition]

  package init(posts: [String: FieldDefinition] = [:], users: [String: FieldDefinition] = [:]) {
    (name, version) = (Self.name, 1)
    self.posts = posts
    self.users = users
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    posts = try container.decodeIfPresent([String: FieldDefinition].self, forKey: .posts) ?? [:]
    users = try container.decodeIfPresent([String: FieldDefinition].self, forKey: .users) ?? [:]
    guard name == Self.name else {
      throw DecodingError.dataCorruptedError(
        forKey: .name, in: container, debugDescription: "expected the name \(Self.name)")
    }
    for (key, fields) in [(CodingKeys.posts, posts), (.users, users)] where !FieldDefinition.areValid(fields) {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container, debugDescription: FieldDefinition.expectedFields)
    }
  }
}
