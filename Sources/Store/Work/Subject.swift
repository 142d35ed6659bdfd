package import Model

/// The post or the image that a job makes outputs for.
package enum Subject: Sendable, Hashable, CustomStringConvertible {
  case post(PublicID)
  case image(PublicID)

  /// The public id of the post or image.
  package var id: PublicID {
    switch self {
    case .post(let id), .image(let id): id
    }
  }

  /// What the subject is, in one word.
  package var kind: String {
    switch self {
    case .post: "post"
    case .image: "image"
    }
  }

  package var description: String { "\(kind) \(id)" }
}
