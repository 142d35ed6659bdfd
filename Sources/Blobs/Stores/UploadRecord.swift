package import FoundationEssentials
package import Model

/// The facts of an upload besides its bytes.
package struct UploadRecord: Codable, Sendable, Hashable {
  package let id: PublicID
  /// The user that it belongs to; nil: the client acted as no user.
  package let user: String?
  /// The API key that it counts for, if it belongs to no user; nil: none.
  package let key: String?
  /// The length in bytes; nil: the client has not said it yet.
  package var length: Int64?
  /// What the client has sent as `Upload-Metadata`, for the client.
  package let metadata: String?
  /// The SHA-256 that the client has announced, in hexadecimal digits; nil: it has announced none.
  package var digest: String?
  package let createdAt: Date
  /// When it expires at the latest.
  package private(set) var expiresAt: Date
  /// The seconds without a byte after which it expires, unless it is whole or a post awaits it; nil: it does not.
  package let idle: Double?
  /// Why nothing can be made of the upload; nil: nothing is known against it.
  package var refusal: Reason?
  /// The post that awaits the upload; nil: no submission that is stored names it.
  package var awaited: Awaited?
  /// The bytes that count for quotas; nil: none.
  package var charged: Int64?
  /// The length of an upload whose bytes a post has taken over, so that its file is gone; nil: it is not finished.
  package private(set) var finished: Int64?
  /// The SHA-256 of these bytes in hexadecimal digits; nil: it is not finished, or no blob has its bytes.
  package private(set) var finishedHash: String?
  /// Whether the bytes were lost after it was finished, and are sent again; nil: they were not.
  package private(set) var isReopened: Bool?

  /// The post that awaits an upload, and the part of the submission that the upload is.
  package struct Awaited: Codable, Sendable, Hashable {
    package let post: PublicID
    package let part: String

    package init(post: PublicID, part: String) {
      self.post = post
      self.part = part
    }
  }

  package init(
    id: PublicID = .now(), user: String?, key: String? = nil, length: Int64?, metadata: String?, digest: String? = nil,
    createdAt: Date, expiresAt: Date, idle: Double? = nil
  ) {
    self.id = id
    self.user = user
    self.key = key
    self.length = length
    self.metadata = metadata
    self.digest = digest
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.idle = idle
  }

  /// Makes it the record of an upload that is finished, for another time in seconds.
  mutating func finish(length: Int64, hash: String?, now: Date, remembered: Double) {
    (finished, self.length, finishedHash) = (length, length, hash)
    expiresAt = now.addingTimeInterval(remembered)
  }

  /// Makes it the record of an upload without bytes, for the rest of its time.
  mutating func reopen() { (finished, finishedHash, isReopened) = (nil, nil, true) }

  /// Whether its numbers are some that a service writes: a file may be damaged, and sums of others would overflow.
  var isSound: Bool {
    (length ?? 0) >= 0 && (finished ?? 0) >= 0 && (charged ?? 0) >= 0 && 0...Self.maxIdle ~= (idle ?? 0)
  }

  private static let maxIdle = 1e9
}
