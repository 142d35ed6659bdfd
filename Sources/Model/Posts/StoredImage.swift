package import FoundationEssentials

/// A stored image as the API returns it.
package struct StoredImage: Sendable, Hashable {
  package let id: PublicID
  package let draft: ImageDraft
  package let status: ImageStatus
  package let createdAt: Date
  /// The reasons of a rejection; empty otherwise.
  package let reasons: [Reason]
  package let job: JobSummary?
  /// The current asset set by role, without sources.
  package let assets: [Role: Asset]
  /// Whether everybody may see it.
  package let isPublic: Bool

  package init(
    id: PublicID, draft: ImageDraft, status: ImageStatus, createdAt: Date, reasons: [Reason], job: JobSummary?,
    assets: [Role: Asset], isPublic: Bool
  ) {
    self.id = id
    self.draft = draft
    self.status = status
    self.createdAt = createdAt
    self.reasons = reasons
    self.job = job
    self.assets = assets
    self.isPublic = isPublic
  }
}

/// The data of an image that its client submits.
package struct ImageDraft: Sendable, Hashable {
  package var kind: ImageKind
  /// The app's id of the owner: a user, an itinerary or a place; for a reaction, the id of the post.
  package var owner: String
  /// The app's id of the submitter; nil: the owner.
  package var author: String?
  /// What it shows, in words.
  package var alternativeText: String?

  package init(kind: ImageKind, owner: String, author: String? = nil, alternativeText: String? = nil) {
    self.kind = kind
    self.owner = owner
    self.author = author
    self.alternativeText = alternativeText
  }
}

/// The role of an image for its owner.
package enum ImageKind: String, Codable, Sendable, CaseIterable {
  /// A selfie as a reaction to a post; the owner is the post.
  case reaction
  /// The profile image of a user; a new one replaces the old one.
  case profile
  /// The thumbnail of an itinerary; a new one replaces the old one.
  case itinerary
  /// One of the photos of a place.
  case place

  /// Whether a new image replaces the old one.
  package var replaces: Bool { self == .profile || self == .itinerary }

  /// The name of the definition of its variants.
  package var definition: String {
    switch self {
    case .reaction: "reaction"
    case .profile: "profile-image"
    case .itinerary: "itinerary-thumbnail"
    case .place: "place-photo"
    }
  }
}

/// The status of an image.
package enum ImageStatus: String, Codable, Sendable {
  /// It is waiting or being processed.
  case processing
  /// It can be shown.
  case ready
  /// It was rejected for the reasons of the image.
  case rejected
  /// Processing failed for a cause other than the image.
  case failed
  /// A newer image has replaced it.
  case replaced
}
