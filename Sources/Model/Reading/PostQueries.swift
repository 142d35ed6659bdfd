package import FoundationEssentials

/// The conditions on the posts of a list.
package struct PostFilter: Sendable, Hashable {
  /// The ids; empty: all.
  package var ids: [PublicID] = []
  /// The authors, each once; empty: all.
  package var authors: [String]
  /// The user whose feed the list is: own posts and friends' posts; nil: no feed.
  package var feed: String?
  /// The kinds; empty: all.
  package var kinds: Set<PostKind>
  /// The app's id of a place.
  package var place: String?
  /// A category of the post's place.
  package var category: String?
  /// The audiences; empty: all.
  package var visibilities: Set<Visibility>
  /// The statuses; empty: none.
  package var statuses: Set<PostStatus>
  /// The range of times of submission, in the order `taken` of those that the calendar goes by, in microseconds since 1970-01-01 UTC; `to` is
  /// excluded.
  package var from: Int64?
  package var to: Int64?
  /// The time, as in `from`, since when they have changed: the list then has the latest change first.
  package var updatedSince: Int64?
  package var area: MapArea?
  /// The point that they are near, in addition to `area`.
  package var near: Nearness?
  package var order = PostOrder.newest
  /// Conditions on fields that a definition names; nil: none.
  package var fields: FieldFilter?

  package init(
    authors: [String] = [], kinds: Set<PostKind> = [], place: String? = nil, visibilities: Set<Visibility> = [],
    statuses: Set<PostStatus> = [.ready], from: Int64? = nil, to: Int64? = nil, area: MapArea? = nil
  ) {
    self.authors = authors
    self.kinds = kinds
    self.place = place
    self.visibilities = visibilities
    self.statuses = statuses
    self.from = from
    self.to = to
    self.area = area
  }
}

/// A day with posts in an author's calendar.
package struct CalendarDay: Sendable, Hashable {
  /// `2026-11-20`, in the time zone of the request.
  package let date: String
  /// The number of posts.
  package let posts: Int
  /// The latest post of the day.
  package let post: PublicID
  /// An image of that post for a small cell; nil if it has none.
  package let image: Asset?
  /// Whether everybody may see that post.
  package let isPublic: Bool

  package init(date: String, posts: Int, post: PublicID, image: Asset?, isPublic: Bool) {
    self.date = date
    self.posts = posts
    self.post = post
    self.image = image
    self.isPublic = isPublic
  }
}

/// The minutes of a day in which the app asks all users to record.
package struct DailyWindow: Sendable, Hashable {
  package let openedAt: Date
  package let closesAt: Date
  /// Whether the window was open at the time of the query, by the database's clock.
  package let isOpen: Bool

  package init(openedAt: Date, closesAt: Date, isOpen: Bool) {
    self.openedAt = openedAt
    self.closesAt = closesAt
    self.isOpen = isOpen
  }
}
