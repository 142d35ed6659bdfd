internal import Model

/// The JSON of a page of a list.
struct PageResponse<Item: Encodable>: NilEncodable {
  let items: [Item]
  /// The value of the parameter `cursor` for the next page; null on the last page.
  let next: String?

  init(items: [Item], next: String?) {
    self.items = items
    self.next = next
  }

  init<Element>(_ page: Page<Element>, _ item: (Element) -> Item) {
    items = page.items.map(item)
    next = page.next?.text
  }
}

/// The JSON of one month of an author's calendar.
struct CalendarResponse: Encodable {
  struct Day: NilEncodable {
    let date: String
    let posts: Int
    /// The latest post of the day.
    let post: PublicID
    let image: AssetResponse?
  }

  let month: String
  let zone: String
  let days: [Day]

  init(month: String, zone: String, days: [CalendarDay], urls: MediaURLs) {
    self.month = month
    self.zone = zone
    self.days = days.map { day in
      Day(
        date: day.date, posts: day.posts, post: day.post,
        image: day.image.map { AssetResponse($0, urls, isPublic: day.isPublic) })
    }
  }
}
