/// The kind of a submission that a grant can permit: a kind of posts or of images.
package enum SubmissionKind: String, Codable, Sendable, CaseIterable {
  case take5
  case photo
  case marker
  case reaction
  case profile
  case itinerary
  case place

  package init(_ kind: PostKind) {
    self =
      switch kind {
      case .take5: .take5
      case .photo: .photo
      case .marker: .marker
      }
  }

  package init(_ kind: ImageKind) {
    self =
      switch kind {
      case .reaction: .reaction
      case .profile: .profile
      case .itinerary: .itinerary
      case .place: .place
      }
  }
}
