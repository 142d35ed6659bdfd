/// What a response contains beside its records, by their ids. What the user may not see, and what does not exist, is missing.
///
/// ```swift
/// let name = page.included.users[post.author]?.name
/// ```
public struct Included: Sendable, Hashable, Codable {
  /// A user, as beside records.
  public struct UserSummary: Sendable, Hashable, Codable, Identifiable {
    /// The id.
    public var id: String
    /// The user name.
    public var userName: String?
    /// The name that apps show.
    public var name: String?
    /// The profile image.
    public var image: Assets

    private enum CodingKeys: String, CodingKey {
      case id, name, image
      case userName = "user_name"
    }
  }

  /// What the user has to a post.
  public struct OwnState: Sendable, Hashable, Codable {
    /// Whether the user likes it.
    public var liked: Bool
    /// Whether the user has a bookmark on it.
    public var bookmarked: Bool
  }

  private struct Mine: Sendable, Hashable, Codable {
    var posts: [String: OwnState]?
  }

  /// Users by id.
  public var users: [String: UserSummary] = [:]
  /// Places by id.
  public var places: [String: Place] = [:]
  /// What the user has to posts, by id.
  public var posts: [String: OwnState] = [:]

  init() {}

  /// Reads the object of JSON.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    users = try container.decodeIfPresent([String: UserSummary].self, forKey: .users) ?? [:]
    places = try container.decodeIfPresent([String: Place].self, forKey: .places) ?? [:]
    posts = try container.decodeIfPresent(Mine.self, forKey: .mine)?.posts ?? [:]
  }

  /// Writes the object of JSON.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(users, forKey: .users)
    try container.encode(places, forKey: .places)
    try container.encode(Mine(posts: posts), forKey: .mine)
  }

  private enum CodingKeys: String, CodingKey { case users, places, mine }
}
