internal import Model
internal import Postgres
internal import Store

/// A question that apps ask again and again.
enum ReadingShape: String, CaseIterable, Sendable {
  case newest
  case author
  case place
  case calendar
  case box
  case polygon

  /// What it is, for people.
  var meaning: String {
    switch self {
    case .newest: "the newest posts of all"
    case .author: "a page of an author's posts, from anywhere in their history"
    case .place: "the posts of a place"
    case .calendar: "a month of an author"
    case .box: "the posts of a day in a visible map"
    case .polygon: "the posts of a day in a polygon of eight corners"
    }
  }

  /// How PostgreSQL carries out one such question, by chance.
  func plan(
    of data: ReadingData, store: Store, random: inout SplitMix64, _ session: Session
  ) throws -> [String] {
    var filter = PostFilter(visibilities: [.public])
    switch self {
    case .newest: break
    case .author:
      filter.authors = [data.author(&random)]
      filter.to = data.time(&random)
    case .place: filter.place = data.place(&random)
    case .calendar:
      return try store.explain(
        calendarOf: data.author(&random), month: data.month(&random), zone: "Europe/Berlin", session)
    case .box, .polygon:
      filter.from = data.time(&random)
      filter.to = filter.from.map { $0 + 86_400_000_000 }
      filter.area = self == .box ? data.box(&random) : data.polygon(&random)
    }
    return try store.explain(filter, PageRequest(), session)
  }
}
