/// A reason for which media are rejected.
package struct Reason: Error, Codable, Sendable, Hashable {
  package let code: ReasonCode
  /// The input; nil if both are concerned.
  package let input: InputName?
  /// One or two sentences: the error and what the user can do about it.
  package let detail: String
  /// The position in the clip, in seconds.
  package let seconds: Double?
  /// The position in the file, in bytes.
  package let byteOffset: Int64?
  /// The index of the photo, from 0.
  package var photo: Int?

  package init(
    _ code: ReasonCode, input: InputName?, detail: String, seconds: Double? = nil, byteOffset: Int64? = nil
  ) {
    self.code = code
    self.input = input
    self.detail = detail
    self.seconds = seconds
    self.byteOffset = byteOffset
  }
}

extension Reason {
  /// A reason whose detail has two sentences: the finding, and the remedy.
  ///
  /// - Parameters:
  ///   - finding: lower case at its start, without a full stop.
  ///   - remedy: nil: the code's.
  package init(
    _ code: ReasonCode, input: InputName?, finding: String, remedy: Remedy? = nil, seconds: Double? = nil,
    byteOffset: Int64? = nil
  ) {
    let remedy = remedy ?? Remedy(for: code, input: input)
    self.init(
      code, input: input, detail: "\(finding.asSentence) \(remedy.sentence)", seconds: seconds,
      byteOffset: byteOffset)
  }

  /// Both clips are the same file: two cameras never write the same bytes.
  package static let sameFileTwice = Reason(
    .sameFileTwice, input: nil,
    detail: "front and back are the same file; \(Remedy(for: .sameFileTwice, input: nil).clause)")

  /// A post awaits an upload that is gone.
  package static let uploadExpired = Reason(
    .uploadExpired, input: nil, finding: "an upload of the post expired before all of its bytes came")
}

extension String {
  fileprivate var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}

/// The code of a reason; docs/reasons.md describes each.
package enum ReasonCode: String, Codable, Sendable, CaseIterable {
  case emptyFile = "empty_file"
  case unsupportedContainer = "unsupported_container"
  case truncatedContainer = "truncated_container"
  case noVideoStream = "no_video_stream"
  case unsupportedCodec = "unsupported_codec"
  case corruptVideo = "corrupt_video"
  case corruptImage = "corrupt_image"
  case durationOutOfRange = "duration_out_of_range"
  case durationsDiffer = "durations_differ"
  case tooLarge = "too_large"
  case notOneMoment = "not_one_moment"
  case sameFileTwice = "same_file_twice"
  case decoderCrashed = "decoder_crashed"
  case memoryLimitExceeded = "memory_limit_exceeded"
  case deadlineExceeded = "deadline_exceeded"
  case quarantined
  case uploadExpired = "upload_expired"
  case digestMismatch = "digest_mismatch"
}

/// A warning about media that does not lead to rejection.
package struct Warning: Codable, Sendable, Hashable {
  package let code: WarningCode
  /// The input; nil if both are concerned.
  package let input: InputName?
  /// One or two sentences: the problem and what the user can do about it.
  package let detail: String
  /// The position in the clip, in seconds.
  package let seconds: Double?

  package init(_ code: WarningCode, input: InputName?, detail: String, seconds: Double? = nil) {
    self.code = code
    self.input = input
    self.detail = detail
    self.seconds = seconds
  }

  /// A warning whose detail has two sentences: the finding, and the remedy.
  ///
  /// - Parameter finding: lower case at its start, without a full stop.
  package init(_ code: WarningCode, input: InputName?, finding: String, seconds: Double? = nil) {
    self.init(
      code, input: input, detail: "\(finding.asSentence) \(Remedy(for: code).sentence)", seconds: seconds)
  }
}

/// The code of a warning; docs/reasons.md describes each.
package enum WarningCode: String, Codable, Sendable, CaseIterable {
  case blackVideo = "black_video"
  case frozenVideo = "frozen_video"
  case silentAudio = "silent_sound"
  case damagedAudio = "damaged_sound"
  case unsupportedAudio = "unsupported_sound"
  case notOneMoment = "not_one_moment"
  case notAligned = "not_aligned"
}
