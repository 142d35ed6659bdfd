/// Why media are refused, in words for programs; docs/reasons.md is the table for people.
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
}
