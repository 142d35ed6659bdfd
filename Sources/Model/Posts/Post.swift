package import FoundationEssentials

/// A stored post as the API returns it.
package struct Post: Sendable, Hashable {
  package let id: PublicID
  package let draft: PostDraft
  package let status: PostStatus
  package let createdAt: Date
  /// The time of the last change of what its version covers: its content, its status and its media.
  package let updatedAt: Date
  package let counts: PostCounts
  /// Whether it was posted on time; nil: it is no moment, or no window had opened by then.
  package let punctuality: Punctuality?
  /// The time of an event in the front clip minus its time in the back clip, in seconds; nil: it is not known.
  package let offsetSeconds: Double?
  /// The reasons of a rejection; empty otherwise.
  package let reasons: [Reason]
  /// The job that makes the outputs; nil for a post without media.
  package let job: JobSummary?
  /// The current asset set by role, without sources.
  package let assets: [Role: Asset]
  /// The variants of each photo by role, in the order of submission.
  package let photos: [[Role: Asset]]
  /// The distance from the point of the list, in meters; nil: no list by distance from a point has it.
  package var distance: Double?

  package init(
    id: PublicID, draft: PostDraft, status: PostStatus, createdAt: Date, updatedAt: Date,
    counts: PostCounts = PostCounts(), punctuality: Punctuality? = nil, offsetSeconds: Double? = nil,
    reasons: [Reason], job: JobSummary?, assets: [Role: Asset], photos: [[Role: Asset]] = []
  ) {
    self.id = id
    self.draft = draft
    self.status = status
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.counts = counts
    self.punctuality = punctuality
    self.offsetSeconds = offsetSeconds
    self.reasons = reasons
    self.job = job
    self.assets = assets
    self.photos = photos
  }

  /// Whether everybody may see its media.
  package var isPublic: Bool { draft.visibility == .public && draft.minAge == nil && status == .ready }
}

/// The status of a post.
package enum PostStatus: String, Codable, Sendable, CaseIterable {
  /// Its media are waiting or being processed.
  case processing
  /// Its media can be shown.
  case ready
  /// Its media were rejected for the reasons of the post.
  case rejected
  /// Processing failed for a cause other than the media.
  case failed
  /// Its media are ready, and only its author sees it until a moderator decides.
  case held
  /// A moderator has hidden it: only its author sees it.
  case hidden
}

/// The numbers of comments, reactions and likes of a post, which are the same for every viewer.
package struct PostCounts: Codable, Sendable, Hashable {
  package let comments: Int
  /// The number of visible reactions.
  package let reactions: Int
  package let likes: Int

  package init(comments: Int = 0, reactions: Int = 0, likes: Int = 0) {
    self.comments = comments
    self.reactions = reactions
    self.likes = likes
  }
}

/// A stored media file.
package struct Asset: Sendable, Hashable {
  package let id: PublicID
  package let role: Role
  /// The media type (RFC 6838), `video/mp4` or `image/jpeg`.
  package let type: String
  package let bytes: Int64
  /// The SHA-256 of the content as 64 hexadecimal digits: the strong ETag.
  package let sha256: String
  /// The width in pixels, upright.
  package let width: Int?
  package let height: Int?
  /// The duration in seconds; nil for images.
  package let duration: Double?
  /// The ThumbHash of an image in base64.
  package let thumbhash: String?
  /// The index of the photo in its post, from 0; 0 for other assets.
  package let place: Int
  /// The dominant colour of an image, `#rrggbb`.
  package let color: String?
  /// The integrated loudness of a video's sound (EBU R 128), in LUFS; nil for images and silence, and if it was not measured.
  package let loudness: Double?

  package init(
    id: PublicID, role: Role, type: String, bytes: Int64, sha256: String, width: Int?, height: Int?, duration: Double?,
    thumbhash: String?, place: Int = 0, color: String? = nil, loudness: Double? = nil
  ) {
    self.id = id
    self.role = role
    self.type = type
    self.bytes = bytes
    self.sha256 = sha256
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
    self.place = place
    self.color = color
    self.loudness = loudness
  }
}
