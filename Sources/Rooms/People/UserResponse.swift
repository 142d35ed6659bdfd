import FoundationEssentials
internal import Kit
internal import Model

/// The JSON of a user; unknown values, and those that the client may not see, are null.
struct UserResponse: NilEncodable {
  private let user: AppUser
  private let urls: MediaURLs

  init(_ user: AppUser, _ urls: MediaURLs) {
    self.user = user
    self.urls = urls
  }

  private enum CodingKeys: CodingKey { case id, emailVerified, fields, createdAt, relation, counts, profileImage }

  private struct Counts: Encodable {
    let posts: Int
    let friends: Int
  }

  func encode(to encoder: any Encoder) throws {
    try user.profile.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(user.id, forKey: .id)
    try container.encode(user.profile.fields ?? [:], forKey: .fields)
    try container.encode(user.isEmailVerified, forKey: .emailVerified)
    try container.encode(user.createdAt, forKey: .createdAt)
    try container.encode(user.tie, forKey: .relation)
    try container.encode(Counts(posts: user.posts, friends: user.friends), forKey: .counts)
    // A profile image is public.
    try container.encode(
      user.image.filter { !$0.key.isSource }.mapValues { AssetResponse($0, urls, isPublic: true) },
      forKey: .profileImage)
  }
}

extension AppUser: Versioned {
  /// The profile, without the counts and the profile image.
  var version: some Encodable { ["id": id, "revision": "\(revision)"] }
}
