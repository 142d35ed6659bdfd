package import Crypto
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
  /// The seconds without a byte after which the upload expires, unless it is whole or a post awaits it; nil: it expires at `expiresAt` alone.
  package let idle: Double?
  /// Why nothing can be made of the upload; nil: nothing is known against it.
  package var refusal: Reason?
  /// The post that awaits the upload; nil: no submission that is stored names it.
  package var awaited: Awaited?
  /// The bytes that count for quotas; nil: none.
  package var charged: Int64?
  /// The length once more, if the upload is finished; nil: it is not.
  private var finished: Int64?
  /// The SHA-256 of the bytes of a finished upload in hexadecimal digits; nil: the upload is not finished, or no blob has its bytes.
  private var finishedHash: String?
  /// True if the upload was reopened; nil: it was not.
  private var isReopened: Bool?

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

  /// Whether a post has taken over the bytes, so that the upload has no file.
  package var isFinished: Bool { finished != nil }

  /// The blob that the bytes of a finished upload have become; nil: none is known.
  package var blob: SHA256Digest? { finishedHash.flatMap { SHA256Digest(hex: $0) } }

  /// Whether the bytes were lost after the upload was finished, and the client sends them again, or has sent them: they may be others.
  package var wasReopened: Bool { isReopened == true }

  /// Makes it the record of an upload that is finished, for another time in seconds.
  mutating func finish(length: Int64, hash: String?, now: Date, remembered: Double) {
    (finished, self.length, finishedHash) = (length, length, hash)
    expiresAt = now.addingTimeInterval(remembered)
  }

  /// Makes it the record of an upload without bytes, for the rest of its time.
  mutating func reopen() { (finished, finishedHash, isReopened) = (nil, nil, true) }

  /// Whether the file of the upload was whole and has lost bytes since.
  package func isCut(_ state: UploadFile.State) -> Bool { state.isWhole && length.map { $0 != state.offset } ?? false }

  /// Whether the numbers are some that a service writes. A damaged file may hold negative numbers, and differences of them overflow.
  var isSound: Bool {
    (length ?? 0) >= 0 && (finished ?? 0) >= 0 && (charged ?? 0) >= 0 && 0...Self.maxIdle ~= (idle ?? 0)
  }

  /// In seconds: far above the range of `--upload-idle`. A number near the largest makes no date.
  private static let maxIdle = 1e9
}
