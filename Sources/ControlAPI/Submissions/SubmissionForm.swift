internal import Blobs
internal import HTTPServer
internal import Model

/// What a submission's form held: the post and its media, staged, hashed and not yet looked at.
struct SubmissionForm: Sendable {
  /// What came beside the post.
  enum Media: Sendable {
    /// Both clips of a moment.
    case moment([Camera: SealedBlob])
    /// A marker's video.
    case clip(SealedBlob)
    /// The photos of a post, in the order in which they came, or the image of a marker; perhaps none.
    case photos([SealedBlob])
  }

  let draft: PostDraft
  /// The part `post` as it came.
  let post: [UInt8]
  let media: Media

  static let postBytes = 64 << 10

  /// The longest form that holds nothing but the part `post`, with what delimits it.
  static let mostOfText = Int64(postBytes) + 4096

  /// The most bytes of each part.
  struct PartLimits: Sendable {
    /// Of each clip of a moment.
    let momentBytes: Int64
    /// Of a clip by itself.
    let clipBytes: Int64
    let photoBytes: Int64
    /// How many photos a post has at most.
    let photos: Int

    /// Of a form, for the route's limit: the media, the post, and what separates them.
    var formBytes: Int64 {
      max(Int64(Camera.allCases.count) * momentBytes, clipBytes, Int64(photos) * photoBytes) + 1 << 20
    }

    /// Of a part.
    func bytes(of part: SubmissionPart) -> Int64 {
      switch part {
      case .post: Int64(SubmissionForm.postBytes)
      case .front, .back: momentBytes
      case .video: clipBytes
      case .photo, .image: photoBytes
      }
    }
  }

  /// Reads it from a request, each file straight into the blob store; throws a problem that names the part.
  init(_ request: Request, room: MediaRoom, limits: PartLimits) async throws {
    var reading = FormReading(room: room, limits: limits)
    do {
      // More parts than known ones, so that the one too many can be named.
      var reader = try MultipartReader(
        request,
        limits: MultipartLimits(
          parts: limits.photos + 4, partBytes: SubmissionPart.allCases.map { limits.bytes(of: $0) }.max() ?? 0))
      while let event = try await reader.next() {
        switch event {
        case .part(let header): try reading.begin(header.name)
        case .bytes(let bytes): try reading.take(bytes)
        case .endOfPart: try reading.end()
        }
      }
    } catch let error as MultipartError {
      throw error.problem
    }
    (draft, post, media) = try reading.finish()
  }
}
