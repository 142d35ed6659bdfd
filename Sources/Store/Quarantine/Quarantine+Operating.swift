package import Crypto
package import FoundationEssentials
package import Model
package import Postgres
import Queue

/// The quarantine, as operators see it.
extension Quarantine {
  /// Reads the quarantined inputs whose hash begins with the given lower-case hexadecimal digits, the newest first.
  package static func list(
    prefix: String = "", limit: Int = .max, _ session: Session
  ) throws -> [QuarantinedMedia] {
    try session.execute(Self.statements["quarantined"], .text(prefix), .integer(limit)).map { row in
      let media = try QuarantinedMedia(row)
      return try media.with(
        inputs: session.execute(Self.statements["blobs_of_quarantined"], .bytes(media.hash.bytes))
          .map(QuarantinedMedia.Input.init))
    }
  }

  /// Reads the JSON of the definition that quarantined media were processed with.
  package static func definition(of media: QuarantinedMedia, _ session: Session) throws(PostgresError) -> [UInt8] {
    Array(
      try session.execute(Store.statements["definition"], .bytes(media.definition.bytes)).single()
        .get("body", as: String.self).utf8)
  }

  /// Releases quarantined inputs: they may be submitted again, and their blobs are collected if nothing else refers to
  /// them; false if they are not quarantined.
  package static func release(_ media: QuarantinedMedia, _ session: Session) throws(PostgresError) -> Bool {
    let inputs = Parameter.bytes(media.hash.bytes)
    try session.execute(Self.statements["release_blobs_of_quarantined"], inputs)
    return try !session.execute(Self.statements["drop_quarantined"], inputs).isEmpty
  }
}

/// A file or a moment that is quarantined, with the facts of the last crash.
package struct QuarantinedMedia: Sendable {
  package enum Kind: String, Sendable, Codable {
    case moment
    case clip
    case photo
  }

  /// One of its files.
  package struct Input: Sendable {
    package let role: Role
    package let hash: SHA256Digest
    package let bytes: Int64
  }

  /// The hash of the file, or of the hashes of both clips.
  package let hash: SHA256Digest
  package let kind: Kind
  package private(set) var inputs: [Input] = []
  package let crash: CrashFacts
  package let crashes: Int
  /// The camera in the inset of a moment.
  package let foreground: Camera?
  /// The hash of the definition.
  package let definition: SHA256Digest
  package let definitionName: String
  package let definitionVersion: Int
  /// The version of take5.
  package let version: String
  package let firstAt: Date
  package let lastAt: Date
  package let quarantinedAt: Date

  fileprivate init(_ row: Row) throws {
    guard let hash = SHA256Digest(bytes: try row.get("inputs")),
      let definition = SHA256Digest(bytes: try row.get("definition"))
    else { throw PostgresError(.decoding, "a hash in the quarantine is not a SHA-256") }
    self.hash = hash
    self.definition = definition
    kind = try row.enumValue("kind")
    crash = CrashFacts(
      code: try row.enumValue("code"), error: try row.get("last_error"), stage: try row.get("stage"),
      signal: try row.get("signal"), limits: try row.get("limits"))
    crashes = try row.get("crashes")
    foreground = try row.get("foreground", as: String?.self).flatMap(Camera.init(rawValue:))
    definitionName = try row.get("definition_name")
    definitionVersion = try row.get("definition_version")
    version = try row.get("version")
    firstAt = Date(microseconds: try row.get("first_at"))
    lastAt = Date(microseconds: try row.get("last_at"))
    quarantinedAt = Date(microseconds: try row.get("quarantined_at"))
  }

  fileprivate func with(inputs: [Input]) -> QuarantinedMedia {
    var copy = self
    copy.inputs = inputs
    return copy
  }
}

extension QuarantinedMedia.Input {
  fileprivate init(_ row: Row) throws {
    guard let hash = SHA256Digest(bytes: try row.get("hash")) else {
      throw PostgresError(.decoding, "the hash of a blob is not a SHA-256")
    }
    self.init(role: try row.enumValue("role"), hash: hash, bytes: try row.get("bytes"))
  }
}
