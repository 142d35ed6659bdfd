/// What is to be made of the photos of a kind of submission: a JSON file in `jobs/`, and a row in the database by its hash.
package struct PhotoDefinition: Codable, Sendable, Hashable {
  /// What becomes of data about place, device and person.
  package enum Metadata: String, Codable, Sendable {
    /// Nothing of them is in any output.
    case strip
  }

  package var name: String
  package var version: Int
  /// The most time one attempt may take.
  package var deadlineSeconds: Int
  /// How often it is tried before the job is dead.
  package var attempts: Int
  /// How many photos a submission has at most.
  package var photos: Int
  package var limits: PhotoLimits
  /// What is made of each photo, by role.
  package var variants: [Role: PhotoVariant]
  package var metadata: Metadata
  /// Whether the files as submitted are kept for reprocessing.
  package var keepSources: Bool

  /// What is done with each photo.
  package var plan: PhotoPlan { PhotoPlan(limits: limits, variants: variants) }
}
