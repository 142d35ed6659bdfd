import FoundationEssentials
import Kit
internal import Model
internal import Postgres
import Rooms
import SeededRandom
internal import Store

/// A frequent query of apps, sent for a user.
enum ReadingShape: String, CaseIterable, Sendable {
  case newest
  case author
  case place
  case calendar
  case box
  case polygon
  case nearest
  case feed
  case post
  case avatars
  case likesOfPost = "likes_of_post"
  case likesOfUser = "likes_of_user"
  case friends
  case profile
  case search
  case misspelled
  case placesInBox = "places_in_box"
  case placesByPosts = "places_by_posts"
  case narrowMap = "narrow_map"
  case wideMap = "wide_map"
  case collections
  case collection
  case openCollections = "open_collections"
  case feedInBox = "feed_in_box"
  case category
  case taken
  case fields
  case city = "city_polygon"
  case world = "world_polygon"

  /// What screens want with the records of lists, each in turn.
  var inclusions: [Set<Inclusion.Part>] {
    switch self {
    case .newest, .author, .place, .box, .polygon, .nearest, .feed, .feedInBox, .category, .taken, .fields:
      [[.author, .mine], [.place]]
    case .likesOfPost, .friends, .avatars, .search: [[.author, .mine]]
    case .likesOfUser, .placesInBox, .placesByPosts: [[.mine]]
    case .collections, .openCollections: [[.author]]
    case .post, .profile, .collection, .calendar, .misspelled, .narrowMap, .wideMap, .city, .world: []
    }
  }

  /// A short description.
  var meaning: String {
    switch self {
    case .newest: "the newest posts of all authors"
    case .author: "a page of an author's posts from a random time"
    case .place: "the posts of a place"
    case .calendar: "a month in an author's calendar"
    case .box: "the posts of a day in a box of the map"
    case .polygon: "the posts of a day in a polygon of eight corners"
    case .nearest: "the posts of a day within 20 km of a point, the nearest first"
    case .feed: "the newest posts of a user and the user's friends, one of ten the user with 5,000"
    case .post: "one post"
    case .avatars: "fifty users by their ids"
    case .likesOfPost: "the users who like a post, one of ten that which all users like"
    case .likesOfUser: "what a user likes"
    case .friends: "the friends of a user, one of ten the user with 5,000"
    case .profile: "the profile of a user"
    case .search: "users by the beginning of a name"
    case .misspelled: "users by a name with a typing error"
    case .placesInBox: "the places in a box of the map, by their posts"
    case .placesByPosts: "the places of the earth, by their posts"
    case .narrowMap: "the activity of a week in a box of 0.2 degrees"
    case .wideMap: "the activity of a week on the earth"
    case .collections: "the collections of a user, and those shared with the user"
    case .collection: "one collection with its items and its thumbnail"
    case .openCollections: "the collections on the profile of a user"
    case .feedInBox: "the newest posts of a user and the user's friends in a box of the map"
    case .category: "the newest posts at places of a category"
    case .taken: "a day of an author by the time of recording"
    case .fields: "the posts of a day with a value of a field"
    case .city: "the newest posts in a polygon of 0.24 degrees"
    case .world: "the newest posts in a polygon of the earth"
    }
  }

  private static let zones = KnownTimeZones()

  /// Sends one such query with random values, with the functions of the API.
  ///
  /// - Parameter parts: what the client wants with the records.
  func send(_ values: ReadingValues, including parts: Set<Inclusion.Part>, _ session: Session) throws {
    let viewer = Viewer.user(values.viewer)
    let inclusion = Inclusion(parts: parts, viewer: viewer, urls: .unsigned, rooms: .all)
    var filter = PostFilter()
    switch self {
    case .newest: break
    case .author:
      filter.authors = [values.user]
      filter.to = values.time
    case .place: filter.place = values.place
    case .box, .polygon:
      filter.from = values.time
      filter.to = values.time + 86_400_000_000
      filter.area = self == .box ? values.box : values.polygon
    case .nearest:
      filter.from = values.time
      filter.to = values.time + 86_400_000_000
      filter.near = values.near
      filter.order = .distance
    case .feed: filter.feed = values.viewer
    case .feedInBox:
      filter.feed = values.viewer
      filter.area = values.box
    case .category: filter.category = "museum"
    case .taken:
      filter.authors = [values.user]
      filter.order = .taken
      filter.from = values.time
      filter.to = values.time + 86_400_000_000
    case .fields:
      filter.from = values.time
      filter.to = values.time + 86_400_000_000
      filter.fields = try FieldFilter(["genre": .equal(.text("jazz"))])
    case .city: filter.area = values.polygon
    case .world: filter.area = values.world
    case .avatars:
      _ = try inclusion.read(People.list(values.users, for: viewer, session), session)
      return
    case .calendar:
      _ = try Posts.calendar(
        of: values.user, for: viewer, month: values.month, zone: "Europe/Berlin", visibilities: [],
        zones: Self.zones, session)
      return
    case .post:
      _ = try inclusion.read([Posts.find(values.post, for: viewer, session)].compactMap(\.self), session)
      return
    case .likesOfPost: return try Self.list("like", to: values.post.description, inclusion, session)
    case .likesOfUser: return try Self.list("like", of: values.user, inclusion, session)
    case .friends: return try Self.list("friend", of: values.user, inclusion, session)
    case .profile:
      _ = try inclusion.read([People.find(values.user, for: viewer, session)].compactMap(\.self), session)
      return
    case .placesInBox, .placesByPosts:
      var places = PlaceFilter()
      places.area = self == .placesInBox ? values.placeBox : values.earth
      _ = try inclusion.read(Places.list(places, for: viewer, PageRequest(), session).items, session)
      return
    case .narrowMap, .wideMap:
      let start = Date(timeIntervalSince1970: Double(values.time) / 1e6)
      let map = ActivityMap(
        self == .narrowMap ? values.box : values.earth, from: start, to: start.addingTimeInterval(7 * 86_400),
        now: Date())
      _ = try Places.activity(map, session)
      return
    case .collections:
      let page = try Collections.list(
        of: values.user, as: [.author, .editor, .viewer], kind: nil, PageRequest(), session)
      _ = try inclusion.read(page.items, session)
      return
    case .openCollections:
      let page = try Collections.list(ofAuthor: values.user, kind: nil, for: viewer, PageRequest(), session)
      _ = try inclusion.read(page.items, session)
      return
    case .collection:
      let found = try Collections.find(values.collection, for: .unrestricted, session)
      _ = try inclusion.read([found].compactMap(\.self), session)
      return
    case .search, .misspelled:
      let text = self == .search ? values.beginning : values.misspelled
      _ = try inclusion.read(People.list(like: text, for: viewer, limit: 20, session), session)
      return
    }
    _ = try inclusion.read(Posts.list(filter, for: viewer, PageRequest(), session).items, session)
  }

  private static func list(
    _ kind: String, of user: String, _ inclusion: Inclusion, _ session: Session
  ) throws {
    guard let kind = RelationKind.all.first(where: { $0.name == kind }) else { return }
    let page = try Relations.list(of: user, kind, .established, for: inclusion.viewer, PageRequest(), session)
    _ = try inclusion.read(page.items, session)
  }

  private static func list(
    _ kind: String, to target: String, _ inclusion: Inclusion, _ session: Session
  ) throws {
    guard let kind = RelationKind.all.first(where: { $0.name == kind }) else { return }
    let page = try Relations.list(to: target, kind, for: inclusion.viewer, PageRequest(), session)
    _ = try inclusion.read(page.items, session)
  }
}

/// Random values of the queries of one round.
struct ReadingValues: Sendable {
  let viewer: String
  let user: String
  let place: String
  let time: Int64
  let month: String
  let box: MapArea
  let placeBox: MapArea
  let polygon: MapArea
  let earth = MapArea(west: -180, south: -90, east: 180, north: 90)!
  let world = MapArea(polygons: [[[.init(-180, -85), .init(180, -85), .init(180, 85), .init(-180, 85)]]])!
  let near: Nearness?
  let collection: PublicID
  let users: [String]
  let post: PublicID
  /// The first letters of a user's name.
  let beginning: String
  /// A user's name with two letters exchanged.
  let misspelled: String

  init(of data: ReadingData, seed: UInt64, _ session: Session) throws {
    var random = SplitMix64(seed: seed)
    viewer = data.user(&random)
    user = data.user(&random)
    place = data.place(&random)
    time = data.time(&random)
    month = data.month(&random)
    box = data.box(&random)
    polygon = data.polygon(&random)
    let ring = polygon.pieces[0].ring
    near = Nearness(
      longitude: ring.map(\.longitude).reduce(0, +) / Double(ring.count),
      latitude: ring.map(\.latitude).reduce(0, +) / Double(ring.count), meters: 20_000)
    users = Set((0..<50).map { _ in data.user(&random) }).sorted()
    post = try data.post(&random, session)
    collection = try data.collection(&random, session)
    placeBox = data.placeBox(&random)
    let name: String = try session.execute("SELECT name FROM app_user WHERE id = $1", .text(user)).single().get(0)
    beginning = String(name.prefix(Int.random(in: 2...5, using: &random)))
    var letters = Array(name)
    letters.swapAt(letters.count - 3, letters.count - 2)
    misspelled = String(letters)
  }
}
