package import Model

/// What is made of each kind of submission.
package struct SubmissionDefinitions: Sendable {
  /// Of the two clips of a moment.
  package var moment: Definition
  /// Of a marker's one clip.
  package var clip: Definition
  /// Of photos, by the names of their kinds.
  package var photos: [String: PhotoDefinition]

  package init(moment: Definition, clip: Definition, photos: [String: PhotoDefinition]) {
    self.moment = moment
    self.clip = clip
    self.photos = photos
  }
}
