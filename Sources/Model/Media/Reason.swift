/// One reason for which media are refused.
package struct Reason: Error, Codable, Sendable, Hashable {
  package let code: ReasonCode
  /// Which input; nil when it concerns them together.
  package let input: InputName?
  /// What was found, where, and what the user can do about it: a sentence or two.
  package let detail: String
  /// Where in the clip, in seconds from its start.
  package let seconds: Double?
  /// Where in the file, in bytes from its start.
  package let byteOffset: Int64?
  /// Which of several photos, from 0 on.
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
