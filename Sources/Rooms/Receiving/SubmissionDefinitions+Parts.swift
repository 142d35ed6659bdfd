internal import ISOBaseMedia
internal import Kit
internal import Model

/// What submissions may consist of.
extension SubmissionDefinitions {
  /// The definition that the media of a post are processed with.
  func definition(of media: SubmissionMedia<JudgedFile>) -> MediaDefinition {
    switch media {
    case .moment: .clips(moment)
    case .clip: .clips(clip)
    case .photos: .photos(photo(Self.photoPost))
    }
  }

  /// What a part of a post may be.
  func accepted(_ part: SubmissionPart) -> AcceptedMedia {
    switch part {
    case .front: AcceptedMedia(clip: moment.limits, as: .front)
    case .back: AcceptedMedia(clip: moment.limits, as: .back)
    case .video: AcceptedMedia(clip: clip.limits, as: .clip)
    case .photo, .image:
      photos[Self.photoPost].map { AcceptedMedia(photo: $0.limits) } ?? anyUse
    }
  }
}
