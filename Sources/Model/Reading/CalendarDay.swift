/// A day of an author's calendar that has a post.
package struct CalendarDay: Sendable, Hashable {
  /// As `2026-11-20`, in the zone that was asked for.
  package let date: String
  /// How many posts it has.
  package let posts: Int
  /// The latest of them.
  package let post: PublicID
  /// Its picture for a small cell; nil where it has none.
  package let image: Asset?

  package init(date: String, posts: Int, post: PublicID, image: Asset?) {
    self.date = date
    self.posts = posts
    self.post = post
    self.image = image
  }
}
