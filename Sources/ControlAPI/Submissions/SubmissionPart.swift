internal import Model

/// The parts of media that a submission's form may have, by their names.
enum SubmissionPart: String, CaseIterable, Sendable {
  case front
  case back
  case video
  case image
  case photo

  /// Those that a kind of post may have.
  static func media(of kind: PostKind) -> Set<SubmissionPart> {
    switch kind {
    case .take5: [.front, .back]
    case .photo: [.photo]
    case .marker: [.image, .video]
    }
  }
}
