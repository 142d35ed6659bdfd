package import Blobs
package import Crypto
package import Model
package import Postgres
import Queue

/// A media file that becomes an asset: its bytes are sealed but not yet published.
package struct NewAsset: Sendable {
  package let role: Role
  /// The media type (RFC 6838).
  package let type: String
  package let content: SealedBlob
  package let width: Int?
  package let height: Int?
  /// In seconds.
  package let duration: Double?
  package let thumbhash: String?
  /// The index among the assets of the same role in a set.
  package let place: Int
  /// The dominant colour, `#rrggbb`.
  package let color: String?
  /// The integrated loudness of a video's sound, in LUFS; nil: it is not known.
  package let loudness: Double?

  package init(
    role: Role, type: String, content: SealedBlob, width: Int? = nil, height: Int? = nil, duration: Double? = nil,
    thumbhash: String? = nil, place: Int = 0, color: String? = nil, loudness: Double? = nil
  ) {
    self.role = role
    self.type = type
    self.content = content
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
    self.place = place
    self.color = color
    self.loudness = loudness
  }

  /// Creates an output of a clip job.
  package init(_ facts: OutputFacts, content: SealedBlob) {
    self.init(
      role: facts.role, type: facts.type, content: content, width: facts.width, height: facts.height,
      duration: facts.duration, thumbhash: facts.thumbhash, loudness: facts.loudnessLufs)
  }

  /// Creates an output of a photo.
  package init(_ facts: OutputFacts, of photo: PhotoReport, place: Int, content: SealedBlob) {
    self.init(
      role: facts.role, type: facts.type, content: content, width: facts.width, height: facts.height,
      duration: facts.duration, thumbhash: photo.thumbhash, place: place, color: photo.dominantColor)
  }

  /// The largest size that is stored in the blob's row instead of the blob store.
  static let maxInlineBytes: Int64 = 256 << 10

  /// Whether the bytes are stored in the database, so that a small image is read with one query. The media process
  /// reads sources from descriptors, so they are always files.
  package var isInline: Bool { !role.isSource && type.hasPrefix("image/") && content.bytes <= Self.maxInlineBytes }
}

/// An asset with the location of its bytes.
package struct StoredAsset: Sendable {
  package let asset: Asset
  /// The bytes, if they are stored in the database and intact; nil: they are in the blob store under `hash`, or damaged.
  package let inline: [UInt8]?
  /// The recipe of the asset's set; nil for sources.
  package let recipe: SHA256Digest?
  /// The hash of the asset's blob.
  package let hash: SHA256Digest
  /// The damage of the blob; nil: no damage is known.
  package let damage: AssetDamage?

  package init(_ asset: Asset, _ row: Row) throws {
    self.asset = asset
    guard let hash = SHA256Digest(hex: asset.sha256) else {
      throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
    }
    self.hash = hash
    let inline: [UInt8]? = try row.get("inline_content")
    var damage = try AssetDamage(row)
    // It is small, and nothing else reads it to its end before a client has it.
    if let inline, SHA256.digest(of: inline) != hash {
      damage = damage ?? AssetDamage(unrecorded: .corrupt)
      self.inline = nil
    } else {
      self.inline = inline
    }
    guard asset.bytes >= 0, self.inline.map({ Int64($0.count) == asset.bytes }) ?? true else {
      throw PostgresError(.decoding, "the content of asset \(asset.id) has not the size in the asset's row")
    }
    self.damage = damage
    recipe = try row.get("recipe", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) }
  }
}

/// The damage of an asset's bytes.
package struct AssetDamage: Sendable, Hashable {
  package let kind: BlobDamage
  /// Whether the bytes cannot be made again.
  package let isLost: Bool
  /// Whether it is recorded; otherwise it was found when the row was read.
  package let isRecorded: Bool

  init(unrecorded kind: BlobDamage) {
    self.kind = kind
    isLost = false
    isRecorded = false
  }

  /// Reads the columns `damage` and `is_lost`; nil: no damage is recorded.
  init?(_ row: Row) throws {
    guard let text = try row.get("damage", as: String?.self) else { return nil }
    guard let kind = BlobDamage(rawValue: text) else { throw PostgresError(.decoding, "unknown damage '\(text)'") }
    self.kind = kind
    isLost = try row.get("is_lost", as: Bool?.self) ?? false
    isRecorded = true
  }
}

extension Asset {
  /// Reads a row of the statements `assets_of_sets`, `asset` and `current_image`.
  package init(_ row: Row) throws(PostgresError) {
    let text = try row.get("role", as: String.self)
    guard let role = Role(rawValue: text) else { throw PostgresError(.decoding, "unknown role '\(text)'") }
    guard let hash = SHA256Digest(bytes: try row.get("blob")) else {
      throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
    }
    self.init(
      id: try row.publicID("public_id"), role: role, type: try row.get("type"), bytes: try row.get("bytes"),
      sha256: hash.hex, width: try row.get("width"), height: try row.get("height"),
      duration: try row.get("duration"), thumbhash: try row.get("thumbhash"),
      place: try row.get("place"), color: try row.get("color"), loudness: try row.get("loudness"))
  }
}
