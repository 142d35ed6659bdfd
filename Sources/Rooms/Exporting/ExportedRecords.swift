import FoundationEssentials
internal import Model

/// The profile of a user in the archive, with what only the user may see.
struct ExportedProfile: NilEncodable {
  let id: String
  let profile: Profile

  private enum CodingKeys: CodingKey { case id, fields }

  func encode(to encoder: any Encoder) throws {
    try profile.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(profile.fields ?? [:], forKey: .fields)
  }
}

/// A post in the archive of its author.
struct ExportedPost: NilEncodable {
  let post: Post
  let files: [ExportedFile]

  private enum CodingKeys: String, CodingKey { case id, status, createdAt, counts, reasons, files }

  func encode(to encoder: any Encoder) throws {
    try PostDraftResponse(draft: post.draft).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(post.id, forKey: .id)
    try container.encode(post.status, forKey: .status)
    try container.encode(post.createdAt, forKey: .createdAt)
    try container.encode(post.counts, forKey: .counts)
    try container.encode(post.reasons, forKey: .reasons)
    try container.encode(files, forKey: .files)
  }
}

/// A reaction, a profile image, a thumbnail or a photo of a place in the archive of its author.
struct ExportedImage: Encodable {
  let image: StoredImage
  let files: [ExportedFile]

  private enum CodingKeys: String, CodingKey { case id, kind, owner, alternativeText, status, createdAt, files }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(image.id, forKey: .id)
    try container.encode(image.draft.kind, forKey: .kind)
    try container.encode(image.draft.owner, forKey: .owner)
    try container.encode(image.draft.alternativeText, forKey: .alternativeText)
    try container.encode(image.status, forKey: .status)
    try container.encode(image.createdAt, forKey: .createdAt)
    try container.encode(files, forKey: .files)
  }
}

/// A media file in an archive.
struct ExportedFile: Encodable {
  let asset: Asset
  /// In the archive.
  let path: String

  /// Names the files of a post or an image.
  static func all(of owner: PublicID, _ assets: [Asset]) -> [ExportedFile] {
    assets.map { asset in
      let number = asset.place > 0 ? ".\(asset.place + 1)" : ""
      return ExportedFile(
        asset: asset, path: "media/\(owner)/\(asset.role.rawValue)\(number).\(asset.fileExtension)")
    }
  }

  private enum CodingKeys: String, CodingKey { case path, role, type, bytes, width, height, duration }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(path, forKey: .path)
    try container.encode(asset.role, forKey: .role)
    try container.encode(asset.type, forKey: .type)
    try container.encode(asset.bytes, forKey: .bytes)
    try container.encode(asset.width, forKey: .width)
    try container.encode(asset.height, forKey: .height)
    try container.encode(asset.duration, forKey: .duration)
  }
}

/// A record of a room in an archive.
struct ExportedRecord: Encodable {
  let record: any Encodable

  func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }
}
