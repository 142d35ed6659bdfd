/// One thing about accepted media that the user may want to know.
package struct Warning: Codable, Sendable, Hashable {
  package let code: WarningCode
  /// Which input; nil when it concerns them together.
  package let input: InputName?
  /// What was found, and what the user can do about it: a sentence or two.
  package let detail: String
  /// Where in the clip, in seconds from its start.
  package let seconds: Double?

  package init(_ code: WarningCode, input: InputName?, detail: String, seconds: Double? = nil) {
    self.code = code
    self.input = input
    self.detail = detail
    self.seconds = seconds
  }
}
