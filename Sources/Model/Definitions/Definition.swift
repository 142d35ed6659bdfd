/// What is to be made of a kind of submission: a JSON file in `jobs/`, and a row in the database by its hash.
package struct Definition: Codable, Sendable, Hashable {
  package var name: String
  package var version: Int
  /// The most time one attempt may take.
  package var deadlineSeconds: Int
  /// How often it is tried before the job is dead.
  package var attempts: Int
  package var inputs: [InputName: Input]
  package var limits: Limits
  /// What makes two clips one moment; nil: what is usual.
  package var moment: Moment?
  package var canvas: Canvas
  package var outputs: Outputs
  /// Whether the files as submitted are kept for reprocessing.
  package var keepSources: Bool
}
