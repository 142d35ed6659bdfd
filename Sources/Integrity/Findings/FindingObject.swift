package import Crypto
package import Model

/// What a finding is about.
package enum FindingObject: Sendable, Hashable {
  case blob(SHA256Digest)
  /// By its path from the blob store's folder on.
  case file(String)
  case set(PublicID)
  case definition(SHA256Digest)
  case asset(PublicID)
  case post(PublicID)
  case image(PublicID)

  /// What kind of thing it is, in one word.
  package var kind: String {
    switch self {
    case .blob: "blob"
    case .file: "file"
    case .set: "set"
    case .definition: "definition"
    case .asset: "asset"
    case .post: "post"
    case .image: "image"
    }
  }

  /// What tells it from the others of its kind.
  package var id: String {
    switch self {
    case .blob(let hash), .definition(let hash): hash.hex
    case .file(let path): path
    case .set(let id), .asset(let id), .post(let id), .image(let id): id.description
    }
  }
}

extension FindingObject: Encodable {
  private enum CodingKeys: CodingKey {
    case kind
    case id
  }

  /// Writes its kind and its id.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .kind)
    try container.encode(id, forKey: .id)
  }
}
