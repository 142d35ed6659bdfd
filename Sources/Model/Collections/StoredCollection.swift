package import FoundationEssentials

/// A stored collection as the API returns it.
package struct StoredCollection: Sendable, Hashable {
  /// What a viewer is to a collection.
  package enum Role: String, Codable, Sendable, CaseIterable {
    /// Also a client that acts as no user.
    case author
    case editor
    case viewer
    /// One who was asked to be a member and has not accepted.
    case invited
    /// One who knows its link.
    case link
    /// One for whom its visibility is.
    case reader

    package var mayEdit: Bool { self == .author || self == .editor }

    /// Whether the viewer sees more than the collection itself: its members, its activity and its comments.
    package var isMember: Bool { mayEdit || self == .viewer }
  }

  package let id: PublicID
  package let kind: String
  /// The app's id of the author.
  package let author: String
  package let content: CollectionContent
  package let createdAt: Date
  package let updatedAt: Date
  /// The number of changes of the content.
  package let revision: Int64
  package let counts: CollectionCounts
  package let role: Role
  /// Of the viewer; nil: the viewer is no member, and was not asked.
  package let membership: Membership?
  package let hasLink: Bool
  /// Whether a moderator has hidden it.
  package let isHidden: Bool
  /// The image by role.
  package let thumbnail: [Model.Role: Asset]
  /// Whether everybody may see the thumbnail.
  package let isThumbnailPublic: Bool

  package init(
    id: PublicID, kind: String, author: String, content: CollectionContent, createdAt: Date, updatedAt: Date,
    revision: Int64, counts: CollectionCounts, role: Role, membership: Membership?,
    hasLink: Bool, isHidden: Bool,
    thumbnail: [Model.Role: Asset], isThumbnailPublic: Bool
  ) {
    self.id = id
    self.kind = kind
    self.author = author
    self.content = content
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.revision = revision
    self.counts = counts
    self.role = role
    self.membership = membership
    self.hasLink = hasLink
    self.isHidden = isHidden
    self.thumbnail = thumbnail
    self.isThumbnailPublic = isThumbnailPublic
  }
}

/// What users write in a collection.
package struct CollectionContent: Sendable, Hashable {
  package var name: String
  /// Who sees it without being a member.
  package var visibility: Visibility
  package var fields: [String: FieldValue]
  /// The items in their order; for those who are no members, those that the viewer sees. Nil in a list of collections.
  package var items: [CollectionItem]?

  package init(
    name: String, visibility: Visibility = .private, fields: [String: FieldValue], items: [CollectionItem]?
  ) {
    self.name = name
    self.visibility = visibility
    self.fields = fields
    self.items = items
  }
}

/// A place or a post in a collection.
package struct CollectionItem: Sendable, Hashable {
  package enum Subject: Sendable, Hashable {
    /// The app's id of a place.
    case place(String)
    case post(PublicID)
    /// A post that the viewer does not see.
    case hidden
  }

  package let subject: Subject
  package let fields: [String: FieldValue]

  package init(subject: Subject, fields: [String: FieldValue]) {
    self.subject = subject
    self.fields = fields
  }
}

/// The counters of a collection, which are the same for every viewer.
package struct CollectionCounts: Codable, Sendable, Hashable {
  package let items: Int
  package let members: Int
  package let comments: Int

  package init(items: Int, members: Int, comments: Int) {
    self.items = items
    self.members = members
    self.comments = comments
  }
}

/// What a user is to a collection of another user's, and whether the user wants to be it.
package struct Membership: Codable, Sendable, Hashable {
  /// What a member may do.
  package enum Role: String, Codable, Sendable, CaseIterable {
    case viewer
    case editor
  }

  package enum State: String, Codable, Sendable, CaseIterable {
    case invited
    /// The user has accepted, has joined by the link, or was not asked.
    case accepted
    case declined
  }

  package var role: Role
  package var state: State

  package init(role: Role, state: State) {
    self.role = role
    self.state = state
  }
}

/// A user with whom a collection is shared.
package struct CollectionMember: Codable, Sendable, Hashable {
  package let user: String
  package let role: Membership.Role
  package let state: Membership.State
  package let createdAt: Date

  package init(user: String, _ membership: Membership, createdAt: Date) {
    self.user = user
    role = membership.role
    state = membership.state
    self.createdAt = createdAt
  }
}

/// Something that was done with a collection.
package struct CollectionActivity: NilEncodable, Sendable, Hashable {
  package enum Kind: String, Codable, Sendable, CaseIterable {
    case created
    /// At most once an hour for each user.
    case viewed
    case edited
    /// A member was added, has joined by the link or has another role now; or the link was made, then without a member.
    case shared
    /// A user was asked to be a member, and what the user has answered.
    case invited
    case accepted
    case declined
    /// A member was removed or has left; or the link was revoked, then without a member.
    case unshared
  }

  package let kind: Kind
  /// The user who did it; nil: a client that acts as no user, or a user who was deleted.
  package let user: String?
  package let member: String?
  /// What was edited.
  package let keys: [String]
  package let createdAt: Date

  package init(kind: Kind, user: String?, member: String?, keys: [String], createdAt: Date) {
    self.kind = kind
    self.user = user
    self.member = member
    self.keys = keys
    self.createdAt = createdAt
  }
}
