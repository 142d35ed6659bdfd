/// A record of a list with what the response contains beside it. The members of the record are members of the row.
///
/// ```swift
/// for try await row in client.posts.feed(include: [.author, .mine]) {
///   print(row.caption ?? "", row.authorProfile?.userName ?? "", row.isLiked)
/// }
/// ```
@dynamicMemberLookup
public struct Row<Record: Sendable & Decodable>: Sendable {
  /// The record.
  public var record: Record
  /// What the response contains beside its records.
  public var included: Included

  /// A member of the record.
  public subscript<Value>(dynamicMember path: KeyPath<Record, Value>) -> Value { record[keyPath: path] }
}

extension Row: Identifiable where Record: Identifiable {
  /// The id of the record.
  public var id: Record.ID { record.id }
}

extension Row where Record == Post {
  /// The author, with `include: [.author]`.
  public var authorProfile: Included.UserSummary? { included.users[record.author] }
  /// Whether the user likes it, with `include: [.mine]`.
  public var isLiked: Bool { included.posts[record.id]?.liked ?? false }
  /// Whether the user has a bookmark on it, with `include: [.mine]`.
  public var isBookmarked: Bool { included.posts[record.id]?.bookmarked ?? false }
}

extension Row where Record == Comment {
  /// The author, with `include: [.author]`.
  public var authorProfile: Included.UserSummary? { included.users[record.author] }
}

extension Row where Record == ImageRecord {
  /// The author, with `include: [.author]`.
  public var authorProfile: Included.UserSummary? { record.author.flatMap { included.users[$0] } }
}

extension Row where Record == Relation {
  /// The user that it is to, with `include: [.author]`.
  public var targetProfile: Included.UserSummary? { included.users[record.target] }
}
