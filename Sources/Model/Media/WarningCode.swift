/// What is odd about media that are accepted all the same, in words for programs; docs/reasons.md is the table for people.
package enum WarningCode: String, Codable, Sendable, CaseIterable {
  case blackVideo = "black_video"
  case frozenVideo = "frozen_video"
  case silentSound = "silent_sound"
  case damagedSound = "damaged_sound"
  case notOneMoment = "not_one_moment"
}
