import Model

/// What a job of a run is about: its arguments in the queue. The item knows the rest.
package struct ReprocessJob: Codable, Sendable, Hashable {
  /// The kind of such jobs.
  package static let kind = "reprocess"
  /// The queue that they wait in: apart from the live ones, so that none of those waits behind them.
  package static let queue = "background"
  /// Work in the background gets what processor time is left, so it may take long.
  static let deadlineSeconds = 3600

  package let subject: Subject

  init(subject: Subject) { self.subject = subject }

  private enum CodingKeys: String, CodingKey {
    case post, image
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let post = try container.decodeIfPresent(PublicID.self, forKey: .post) {
      subject = .post(post)
    } else {
      subject = .image(try container.decode(PublicID.self, forKey: .image))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch subject {
    case .post(let id): try container.encode(id, forKey: .post)
    case .image(let id): try container.encode(id, forKey: .image)
    }
  }
}
