/// What an input is called in facts, plans and reasons.
package enum InputName: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case front
  case back
  /// The only input of a verb that takes one clip.
  case clip
  /// A photo; which one, where there are several, is said beside it.
  case photo

  /// The input that a camera's clip is.
  package init(_ camera: Camera) { self = camera == .front ? .front : .back }
}
