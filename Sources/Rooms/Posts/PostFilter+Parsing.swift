internal import HTTPServer
internal import Kit
internal import Model

/// The filters of every list of posts and of the map, which have the same names in a query and in a body.
extension PostFilter {
  enum Use {
    /// A list of posts, or a search.
    case list
    /// The posts of a user and of the user's friends.
    case feed
    /// Numbers of posts, which have no order and no pages.
    case map
  }

  /// Reads all filters but the polygon of a search. Throws a problem if friends are asked for, and there is no acting user; the caller
  /// checks the errors.
  ///
  /// - Parameters:
  ///   - viewer: who sees the posts.
  ///   - fields: the fields of posts that a definition names.
  init(
    _ reader: inout some FilterReader, for viewer: Viewer, _ use: Use = .list, fields defined: [String: FieldDefinition]
  ) throws {
    self.init()
    if use != .feed {
      authors = reader.names("author")
      if reader.flag("friends") {
        guard viewer.user != nil else {
          throw ProblemKind.userRequired.problem("A request lists only the friends of the user that it acts as.")
        }
        if !authors.isEmpty { reader.refuse("author", "does not go with friends") }
        feed = viewer.user
      }
    } else {
      feed = viewer.user
    }
    place = reader.name("place")
    category = reader.name("category")
    kinds = reader.choices("kind", of: PostKind.self)
    area = reader.box("box")
    near = reader.near()
    from = reader.microseconds("from")
    to = reader.microseconds("to")
    if use == .list { ids = reader.ids("id") }
    if use != .map { readOrder(&reader) }
    fields = try FieldFilter(reader.fieldConditions(defined))
    if !ids.isEmpty && feed != nil { reader.refuse("id", "does not go with friends") }
    // A client that names posts gets them as they are, and a user all own posts.
    let isByID = !ids.isEmpty
    let isOwn = feed != nil || viewer.user != nil && authors.count == 1 && viewer.owns(authors.first)
    visibilities = Self.either(
      reader.choices("visibility", of: Visibility.self), or: isByID || isOwn ? [] : [.public])
    statuses = Self.either(
      reader.choices("status", of: PostStatus.self), or: isByID ? Set(PostStatus.allCases) : [.ready])
  }

  private mutating func readOrder(_ reader: inout some FilterReader) {
    order = reader.order("sort", near: near, distance: PostOrder.distance) ?? .newest
    updatedSince = reader.microseconds("updated_since")
    if order != .newest && updatedSince != nil {
      reader.refuse("updated_since", "does not go with sort=\(order.rawValue)")
    }
    if order == .taken && authors.count != 1 { reader.refuse("sort", "taken requires one author") }
  }

  private static func either<Value>(_ given: Set<Value>, or standard: Set<Value>) -> Set<Value> {
    given.isEmpty ? standard : given
  }

  /// Whether it is of all public posts: their numbers are stored.
  var isOfAll: Bool {
    var plain = PostFilter(visibilities: [.public], from: from, to: to)
    plain.area = area
    return self == plain
  }
}
