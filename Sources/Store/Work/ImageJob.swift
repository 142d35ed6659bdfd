package import Model

/// What a job for an image is about: its arguments in the queue.
package struct ImageJob: Codable, Sendable, Hashable {
  /// The kind of such jobs.
  package static let kind = "image"

  package let image: PublicID

  package init(image: PublicID) { self.image = image }
}
