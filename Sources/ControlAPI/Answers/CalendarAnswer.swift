internal import Model

/// A month of an author's calendar as clients read it.
struct CalendarAnswer: Encodable {
  struct Day: Encodable {
    let date: String
    let posts: Int
    /// The latest post of the day.
    let post: PublicID
    let image: AssetAnswer?

    private enum CodingKeys: String, CodingKey { case date, posts, post, image }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(date, forKey: .date)
      try container.encode(posts, forKey: .posts)
      try container.encode(post, forKey: .post)
      try container.encode(image, forKey: .image)
    }
  }

  let month: String
  let zone: String
  let days: [Day]

  init(month: String, zone: String, days: [CalendarDay], urls: MediaURLs) {
    self.month = month
    self.zone = zone
    self.days = days.map { day in
      Day(date: day.date, posts: day.posts, post: day.post, image: day.image.map { AssetAnswer($0, urls) })
    }
  }
}
