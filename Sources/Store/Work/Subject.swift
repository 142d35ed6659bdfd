package import Model

/// What a job works for.
package enum Subject: Sendable, Hashable, CustomStringConvertible {
  case post(PublicID)
  case image(PublicID)

  /// The id that clients know.
  package var id: PublicID {
    switch self {
    case .post(let id), .image(let id): id
    }
  }

  package var description: String {
    switch self {
    case .post(let id): "post \(id)"
    case .image(let id): "image \(id)"
    }
  }
}
