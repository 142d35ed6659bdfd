internal import Blobs
internal import HTTPServer
internal import Model
internal import StreamValidation

/// A file of a request, which is staged, hashed and judged as it arrives.
struct ArrivingFile: ~Copyable {
  private var staged: StagedBlob
  private var validator: StreamValidator
  private let photo: Int?

  /// The rest of a request that is so short that it may come: all files of the request are judged then, and each reason named.
  static let shortRest: Int64 = 64 << 10

  /// - Parameter photo: the index of the photo in reasons.
  init(in space: MediaSpace, accepting accepted: AcceptedMedia, photo: Int? = nil) throws {
    staged = try space.stage()
    validator = StreamValidator(accepting: accepted, length: nil)
    self.photo = photo
  }

  var count: Int64 { staged.count }

  /// Adds bytes; throws a problem with a reason if they show that the file will be rejected.
  ///
  /// - Parameter rest: the number of bytes of the request that are still to come; nil: unknown.
  mutating func append(_ bytes: UnsafeRawBufferPointer, rest: Int64?) throws {
    let refusal = validator.append(bytes)
    if let refusal, rest ?? .max > Self.shortRest {
      var reason = refusal.reason
      reason.photo = photo
      throw MediaRefusal(reasons: [reason]).problem
    }
    try staged.append(bytes)
  }

  consuming func seal() throws(BlobError) -> SealedBlob { try staged.seal() }
}

/// What the files of submissions and uploads may be.
extension SubmissionDefinitions {
  /// What a part of a post may be.
  func accepted(_ part: SubmissionPart) -> AcceptedMedia {
    switch part {
    case .front: AcceptedMedia(clip: moment.limits, as: .front)
    case .back: AcceptedMedia(clip: moment.limits, as: .back)
    case .video: AcceptedMedia(clip: clip.limits, as: .clip)
    case .photo, .image:
      photos[SubmissionDefinitions.photoPost].map { AcceptedMedia(photo: $0.limits) } ?? anyUse
    }
  }

  /// What a file may be whose use is not known.
  var anyUse: AcceptedMedia {
    AcceptedMedia(anyOf: [moment.limits, clip.limits], photos.values.map(\.limits))
  }
}
