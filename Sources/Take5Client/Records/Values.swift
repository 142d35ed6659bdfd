/// The kind of a post.
///
/// ```swift
/// if post.kind == .take5 { showMoment(post) }
/// ```
public struct PostKind: RawRepresentable, Sendable, Hashable, Codable {
  /// The name, as the service writes it.
  public let rawValue: String
  /// A kind by its name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A moment: one clip of each camera.
  public static let take5 = Self(rawValue: "take5")
  /// Up to ten photos.
  public static let photo = Self(rawValue: "photo")
  /// A marker on a map, with an image, a video or neither.
  public static let marker = Self(rawValue: "marker")
}

/// The status of a post.
///
/// ```swift
/// switch post.status {
/// case .ready: play(post)
/// case .rejected: show(post.reasons)
/// default: showPlaceholder()
/// }
/// ```
public struct PostStatus: RawRepresentable, Sendable, Hashable, Codable {
  /// The name, as the service writes it.
  public let rawValue: String
  /// A status by its name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Its media are being sent or processed; there may be a first look.
  public static let processing = Self(rawValue: "processing")
  /// All of its media are there.
  public static let ready = Self(rawValue: "ready")
  /// The media were rejected, for the `reasons`.
  public static let rejected = Self(rawValue: "rejected")
  /// The service could not process the media.
  public static let failed = Self(rawValue: "failed")
  /// It waits for a moderator.
  public static let held = Self(rawValue: "held")
  /// A moderator has hidden it.
  public static let hidden = Self(rawValue: "hidden")
}

/// Who sees a post.
///
/// ```swift
/// try await client.uploads.film(front: front, back: back, visibility: .friends)
/// ```
public enum PostVisibility: String, Sendable, Codable {
  /// All users, and who has no account.
  case `public`
  /// The author and the author's friends.
  case friends
  /// The author.
  case `private`
}

/// A camera of a phone.
///
/// ```swift
/// let other = post.foreground.other
/// ```
public enum Camera: String, Sendable, Codable, CaseIterable {
  /// The camera on the side of the screen.
  case front
  /// The camera on the other side.
  case back
  /// The other camera.
  public var other: Camera { self == .front ? .back : .front }
}

/// What a response contains beside its records.
///
/// ```swift
/// for try await row in client.posts.feed(include: [.author, .mine]) { show(row.authorProfile, row.isLiked) }
/// ```
public enum Inclusion: String, Sendable, CaseIterable {
  /// The users that the records name.
  case author
  /// The places that the records name.
  case place
  /// What the user has to the records: whether the user likes a post.
  case mine
}

/// A position in degrees.
///
/// ```swift
/// let gate = Coordinate(latitude: 52.5163, longitude: 13.3777)
/// ```
public struct Coordinate: Sendable, Hashable, Codable {
  /// From -90 to 90.
  public var latitude: Double
  /// From -180 to 180.
  public var longitude: Double
  /// Makes a position.
  public init(latitude: Double, longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }

  var json: JSONValue { ["latitude": .number(latitude), "longitude": .number(longitude)] }
}

/// A place, as the app names it.
///
/// ```swift
/// let place = Place(id: "brandenburg-gate", name: "Brandenburg Gate")
/// ```
public struct Place: Sendable, Hashable, Codable {
  /// The id that the app has assigned.
  public var id: String
  /// The name that apps show.
  public var name: String?
  /// Where it is.
  public var coordinate: Coordinate?
  /// Makes a place.
  public init(id: String, name: String? = nil, coordinate: Coordinate? = nil) {
    (self.id, self.name, self.coordinate) = (id, name, coordinate)
  }

  var json: JSONValue { ["id": .string(id), "name": JSONValue(name), "coordinate": coordinate?.json ?? .null] }
}
