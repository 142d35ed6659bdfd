package import Store

/// A post or an image that refers to a set of assets.
package struct SetReferrer: Sendable, Hashable {
  package let subject: Subject
  /// Whether the set is what was submitted; else it is the current one.
  package let isSource: Bool
  /// Whether it is a post of two clips.
  package let isMoment: Bool
  /// Whether its sources are kept.
  package let hasSources: Bool
  /// How many photos its sources are.
  package let photos: Int

  package init(subject: Subject, isSource: Bool, isMoment: Bool = false, hasSources: Bool = true, photos: Int = 0) {
    self.subject = subject
    self.isSource = isSource
    self.isMoment = isMoment
    self.hasSources = hasSources
    self.photos = photos
  }
}
