import Foundation
import Take5Client

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Phone {
  /// register NAME PASSWORD
  func register() async throws {
    let session = try await client.register(name: arguments[0], password: arguments[1], displayName: "Ada")
    print("user \(session.user)")
  }

  /// show: the feed with authors, each with its poster and what a screen shows until it is loaded.
  func show() async throws {
    for try await row in client.posts.feed(include: [.author, .mine]) {
      print(
        "row \(row.id) \(row.caption ?? "-") \(row.authorProfile?.name ?? "-") \(row.isLiked) \(row.counts.comments)")
      print("still \(row.still == row.assets[.image])")
      guard let poster = row.assets[.poster] else { continue }
      let (data, _) = try await URLSession.shared.data(from: client.url(of: poster))
      print("poster \(data.count == Int(poster.bytes))")
      if let placeholder = row.assets[.image]?.placeholder {
        print("placeholder \(placeholder.width)x\(placeholder.height) \(placeholder.rgba.prefix(4))")
      }
    }
    for kind in [PostKind.take5, .photo] {
      print("\(kind.rawValue) \(try await client.posts.feed(kinds: [kind]).page().rows.count)")
    }
    let now = Foundation.Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date())
    let month = try await client.posts.calendar(year: now.year ?? 0, month: now.month ?? 0, zone: "UTC")
    print("calendar \(month.days.map(\.posts).reduce(0, +))")
    let corners = [(52.0, 13.0), (52.0, 14.0), (53.0, 14.0), (53.0, 13.0)]
    let filter = PostFilter(polygon: corners.map { Coordinate(latitude: $0.0, longitude: $0.1) }, limit: 1)
    var pins = 0
    for try await _ in client.posts.list(filter, include: [.author]) { pins += 1 }
    print("pins \(pins)")
  }

  /// like POST: likes a post, has a bookmark on it, and comments on it.
  func like() async throws {
    try await client.posts.setLike(true, of: arguments[0])
    try await client.posts.setBookmark(true, on: arguments[0])
    print("likes \(try await client.posts.likes().page().rows.map(\.target).joined(separator: ","))")
    print("bookmarks \(try await client.posts.bookmarks().page().rows.map(\.target).joined(separator: ","))")
    print("bookmarked \(try await client.posts.row(arguments[0], include: [.mine]).isBookmarked)")
    try await client.posts.setBookmark(false, on: arguments[0])
    print("bookmarks left \(try await client.posts.bookmarks().page().rows.count)")
    let comment = try await client.posts.comment(on: arguments[0], "Where is that?")
    try await client.posts.changeComment(comment.id, on: arguments[0], to: "Where was that?")
    for try await row in client.posts.comments(on: arguments[0], include: [.author]) {
      print("comment \(row.text) by \(row.authorProfile?.userName ?? "-")")
    }
  }

  /// collect NAME: creates a collection, renames and finds it, with requests that the client has no calls for.
  func collect() async throws {
    let trip = try await client.send(.post, "/v1/collections", body: ["kind": "itinerary", "name": "Lisbon"])
    let path = "/v1/collections/\(trip["id"]?.text ?? "-")"
    try await client.send(.patch, path, body: ["name": .string(arguments[0])], version: "*")
    let own = try await client.send(.get, "/v1/collections", query: ["kind": "itinerary", "limit": "20"])
    print("own \((own["items"]?.list ?? []).compactMap { $0["name"]?.text }.joined(separator: ","))")
    print("deleted \(try await client.send(.delete, path) == .null)")
    for path in ["https://example.org/v1/collections", "/v1/collections?kind=itinerary", "/v1/a b"] {
      do throws(Take5Error) { try await client.send(.get, path) } catch { print("refused \(error.message)") }
    }
  }

  /// filter POST: lists posts at a place, of a category, and since a change.
  func filter() async throws {
    let post = try await client.posts.post(arguments[0])
    let since = post.updatedAt.addingTimeInterval(-1)
    let me = try await client.session?.user ?? "-"
    let filters = [
      "place": PostFilter(authors: [me], place: "bench"), "elsewhere": PostFilter(authors: [me], place: "lake"),
      "category": PostFilter(authors: [me], category: "swim"),
      "since": PostFilter(authors: [me], updatedSince: since),
      "later": PostFilter(authors: [me], updatedSince: post.updatedAt.addingTimeInterval(60)),
    ]
    for (name, filter) in filters {
      print("\(name) \(try await client.posts.list(filter).page().rows.map(\.id).joined(separator: ","))")
    }
    print("age \(post.minAge ?? 0) fields \(post.fields.isEmpty)")
  }

  /// events LAST COUNT: prints so many events that followed one.
  func events() async throws {
    var left = Int(arguments[1]) ?? 1
    for try await event in client.events(after: arguments[0] == "-" ? nil : arguments[0]) {
      print("event \(event.id ?? "-") \(event.kind.rawValue) \(event.post ?? "-")")
      left -= 1
      if left == 0 { break }
    }
  }

  func window() async throws {
    let window = try await client.window()
    print("window \(window.isOpen) \(window.closesAt.map { "\($0.timeIntervalSince1970)" } ?? "-")")
  }

  func signOut() async {
    print("ended \(await client.signOut())")
    print("session \((try? await client.session) == nil)")
  }
}
