public import Foundation

/// Which posts a list has. Filters go together.
///
/// ```swift
/// var filter = PostFilter(box: .init(west: 13.0, south: 52.3, east: 13.8, north: 52.7))
/// filter.from = Calendar.current.startOfDay(for: .now)
/// for try await row in client.posts.list(filter, include: [.author]) { addPin(row) }
/// ```
public struct PostFilter: Sendable, Hashable {
  /// A box in degrees. If `west` is greater than `east`, it crosses the antimeridian.
  public struct Box: Sendable, Hashable {
    /// The edges.
    public var west, south, east, north: Double
    /// Makes a box.
    public init(west: Double, south: Double, east: Double, north: Double) {
      (self.west, self.south, self.east, self.north) = (west, south, east, north)
    }
  }

  /// The order of a list.
  public enum Order: String, Sendable, Hashable {
    /// The newest first.
    case newest
    /// The nearest first, which needs `near`.
    case distance
    /// The latest first by the time of recording, which needs one author.
    case taken
  }

  /// The ids of authors; empty: all. They do not go with `friends`; `visibility` adds posts that are not public.
  public var authors: [String]
  /// Whether only posts of the user and of friends, in place of `authors`, of every visibility.
  public var friends: Bool
  /// The kinds; empty: all.
  public var kinds: [PostKind]
  /// At the place with this id.
  public var place: String?
  /// At places of this category.
  public var category: String?
  /// In this box.
  public var box: Box?
  /// In this polygon: its corners in their order; it need not be closed.
  public var polygon: [Coordinate]
  /// Near this point.
  public var near: Coordinate?
  /// The distance from the point in meters, 5,000 by default.
  public var radius: Int?
  /// Submitted at this time or later.
  public var from: Date?
  /// Submitted before this time.
  public var to: Date?
  /// Changed at this time or later, the latest change first: content, status and media, not the counts. It needs the order `newest`.
  public var updatedSince: Date?
  /// Of these visibilities; empty: public ones, and one's own.
  public var visibility: [PostVisibility]
  /// In these states; empty: ready.
  public var status: [PostStatus]
  /// The order.
  public var order: Order
  /// The number of records of a page, 1 to 100.
  public var limit: Int

  /// Makes a filter, by default of all public posts.
  public init(
    authors: [String] = [], friends: Bool = false, kinds: [PostKind] = [], place: String? = nil,
    category: String? = nil, box: Box? = nil, polygon: [Coordinate] = [], near: Coordinate? = nil, radius: Int? = nil,
    from: Date? = nil, to: Date? = nil, updatedSince: Date? = nil, visibility: [PostVisibility] = [],
    status: [PostStatus] = [], order: Order = .newest, limit: Int = 50
  ) {
    (self.authors, self.friends, self.kinds, self.place, self.category) = (authors, friends, kinds, place, category)
    (self.box, self.polygon, self.near, self.radius) = (box, polygon, near, radius)
    (self.from, self.to, self.updatedSince) = (from, to, updatedSince)
    (self.visibility, self.status, self.order, self.limit) = (visibility, status, order, limit)
  }

  /// The body of a search, which has every filter.
  func json(include: Set<Inclusion>, cursor: String?) -> JSONValue {
    var members: [String: JSONValue] = ["sort": .string(order.rawValue), "limit": .number(Double(limit))]
    func texts(_ name: String, _ values: [String]) {
      if !values.isEmpty { members[name] = .array(values.map(JSONValue.string)) }
    }
    texts("author", authors)
    texts("kind", kinds.map(\.rawValue))
    texts("visibility", visibility.map(\.rawValue))
    texts("status", status.map(\.rawValue))
    texts("include", include.map(\.rawValue).sorted())
    if friends { members["friends"] = true }
    if let box { members["box"] = .array([box.west, box.south, box.east, box.north].map(JSONValue.number)) }
    if let near { members["near"] = .array([.number(near.longitude), .number(near.latitude)]) }
    if let radius { members["radius"] = .number(Double(radius)) }
    if let from { members["from"] = .string(JSONCoding.text(from)) }
    if let to { members["to"] = .string(JSONCoding.text(to)) }
    if let updatedSince { members["updated_since"] = .string(JSONCoding.text(updatedSince)) }
    if let place { members["place"] = .string(place) }
    if let category { members["category"] = .string(category) }
    if let cursor { members["cursor"] = .string(cursor) }
    if let first = polygon.first {
      let ring = (polygon.last == first ? polygon : polygon + [first]).map { corner in
        JSONValue.array([.number(corner.longitude), .number(corner.latitude)])
      }
      members["polygon"] = ["type": "Polygon", "coordinates": .array([.array(ring)])]
    }
    return .object(members)
  }
}
