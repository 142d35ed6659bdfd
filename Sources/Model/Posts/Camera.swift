/// One of the two cameras that film a moment.
package enum Camera: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable {
  case front
  case back

  /// The other one.
  package var other: Camera { self == .front ? .back : .front }
}
