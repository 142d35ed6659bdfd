package import FoundationEssentials

/// The data of a post that its client submits.
package struct PostDraft: Codable, Sendable, Hashable {
  package var kind: PostKind
  /// The app's id of the author.
  package var author: String
  package var title: String?
  package var caption: String?
  /// What its media show, in words.
  package var alternativeText: String?
  package var visibility: Visibility
  package var place: Place?
  package var location: Coordinate?
  /// The time of recording.
  package var capturedAt: Date?
  /// The camera that the composition shows in the inset.
  package var foreground: Camera
  /// What the definition of fields says of it; nil: nothing.
  package var fields: [String: FieldValue]?
  /// The age in years from which on users see it whose birth date is known; nil: any.
  package var minAge: Int?

  package init(
    kind: PostKind = .take5, author: String, title: String? = nil, caption: String? = nil,
    alternativeText: String? = nil, visibility: Visibility = .public, place: Place? = nil, location: Coordinate? = nil,
    capturedAt: Date? = nil,
    foreground: Camera = .front, fields: [String: FieldValue]? = nil, minAge: Int? = nil
  ) {
    self.kind = kind
    self.author = author
    self.title = title
    self.caption = caption
    self.alternativeText = alternativeText
    self.visibility = visibility
    self.place = place
    self.location = location
    self.capturedAt = capturedAt
    self.foreground = foreground
    self.fields = fields
    self.minAge = minAge
  }

  /// Whether another draft has the same words. A property counts as words unless it is named here.
  package func hasTexts(of other: PostDraft) -> Bool {
    var worded = other
    worded.kind = kind
    worded.author = author
    worded.visibility = visibility
    worded.place = place
    worded.location = location
    worded.capturedAt = capturedAt
    worded.foreground = foreground
    worded.minAge = minAge
    return self == worded && place?.name == other.place?.name
  }
}

extension PostDraft {
  /// The valid ages.
  package static let minAges = 1...120

  /// Whether fewer users see it than another draft: by its audience, or by their age.
  package func isNarrower(than other: PostDraft) -> Bool {
    visibility < other.visibility || minAge ?? 0 > other.minAge ?? 0
  }
}

/// The type of a post.
package enum PostKind: String, Codable, Sendable, CaseIterable {
  /// Both clips of one moment.
  case take5
  /// Up to ten photos.
  case photo
  /// A marker on the map, with at most one image or video.
  case marker
}

/// The audience of a post.
package enum Visibility: String, Codable, Sendable, CaseIterable {
  case `public`
  case friends
  case `private`
}

extension Visibility: Comparable {
  /// Whether the audience is smaller.
  package static func < (left: Visibility, right: Visibility) -> Bool { left.reach < right.reach }

  private var reach: Int {
    switch self {
    case .public: 2
    case .friends: 1
    case .private: 0
    }
  }
}

/// A place that the app knows by an id; the service stores its data unchanged.
package struct Place: Codable, Sendable, Hashable {
  package let id: String
  package let name: String?
  package let coordinate: Coordinate?

  package init(id: String, name: String?, coordinate: Coordinate?) {
    self.id = id
    self.name = name
    self.coordinate = coordinate
  }
}

/// A change of the place of a post: of what the post says of it, or to another place.
package struct PlaceChange: Sendable, Hashable {
  package let id: String
  package let name: MemberChange<String>
  package let coordinate: MemberChange<Coordinate>

  package init(id: String, name: MemberChange<String>, coordinate: MemberChange<Coordinate>) {
    self.id = id
    self.name = name
    self.coordinate = coordinate
  }

  /// Applies the change to a place. Nothing of another place stays.
  func applied(to place: Place?) -> Place {
    let same = place.flatMap { $0.id.utf8.elementsEqual(id.utf8) ? $0 : nil }
    return Place(id: id, name: name.applied(to: same?.name), coordinate: coordinate.applied(to: same?.coordinate))
  }
}

/// A geographic coordinate in degrees (WGS 84).
package struct Coordinate: Codable, Sendable, Hashable {
  /// -90 to 90, positive to the north.
  package let latitude: Double
  /// -180 to 180, positive to the east.
  package let longitude: Double

  /// Nil outside the ranges.
  package init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let latitude = try container.decode(Double.self, forKey: .latitude)
    let longitude = try container.decode(Double.self, forKey: .longitude)
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "expected a latitude of -90 to 90 and a longitude of -180 to 180"))
    }
    self = coordinate
  }
}

/// A change of a post; properties that are `.keep` or nil stay the same.
package struct PostChange: Sendable, Hashable {
  package var title: MemberChange<String>
  package var caption: MemberChange<String>
  package var alternativeText: MemberChange<String>
  package var place: MemberChange<PlaceChange>
  package var location: MemberChange<Coordinate>
  package var visibility: Visibility?
  package var foreground: Camera?
  package var fields: FieldChange
  package var minAge: MemberChange<Int>

  package init(
    title: MemberChange<String> = .keep, caption: MemberChange<String> = .keep,
    alternativeText: MemberChange<String> = .keep, place: MemberChange<PlaceChange> = .keep,
    location: MemberChange<Coordinate> = .keep, visibility: Visibility? = nil, foreground: Camera? = nil,
    fields: FieldChange = .none, minAge: MemberChange<Int> = .keep
  ) {
    self.title = title
    self.caption = caption
    self.alternativeText = alternativeText
    self.place = place
    self.location = location
    self.visibility = visibility
    self.foreground = foreground
    self.fields = fields
    self.minAge = minAge
  }

  /// Applies the change to a draft.
  package func applied(to draft: PostDraft) -> PostDraft {
    var draft = draft
    draft.title = title.applied(to: draft.title)
    draft.caption = caption.applied(to: draft.caption)
    draft.alternativeText = alternativeText.applied(to: draft.alternativeText)
    if case .set(let change) = place { draft.place = change?.applied(to: draft.place) }
    draft.location = location.applied(to: draft.location)
    draft.visibility = visibility ?? draft.visibility
    draft.foreground = foreground ?? draft.foreground
    draft.fields = fields.applied(to: draft.fields)
    draft.minAge = minAge.applied(to: draft.minAge)
    return draft
  }
}
