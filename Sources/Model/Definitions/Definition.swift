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
  /// What pictures are composed on; where a definition says nothing, 1080 x 1920 at 30 pictures a second.
  package var canvas: Canvas
  package var outputs: Outputs
  /// Whether the files as submitted are kept for reprocessing.
  package var keepSources: Bool

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    version = try container.decode(Int.self, forKey: .version)
    deadlineSeconds = try container.decode(Int.self, forKey: .deadlineSeconds)
    attempts = try container.decode(Int.self, forKey: .attempts)
    inputs = try container.decode([InputName: Input].self, forKey: .inputs)
    limits = try container.decode(Limits.self, forKey: .limits)
    moment = try container.decodeIfPresent(Moment.self, forKey: .moment)
    canvas = try container.decodeIfPresent(Canvas.self, forKey: .canvas) ?? Canvas()
    outputs = try container.decode(Outputs.self, forKey: .outputs)
    keepSources = try container.decode(Bool.self, forKey: .keepSources)
  }
}
