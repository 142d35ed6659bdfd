/// Whose sound an output has, and how it gets there.
package struct AudioPlan: Codable, Sendable, Hashable {
  /// Copy the packets, or decode, resample and encode them.
  package enum Mode: String, Codable, Sendable {
    case copy
    case encode
  }

  package var input: InputName
  package var mode: Mode

  package init(input: InputName, mode: Mode) {
    self.input = input
    self.mode = mode
  }
}
