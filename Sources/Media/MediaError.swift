/// Why media work broke off without saying anything about the media.
package struct MediaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds that a caller treats differently.
  package enum Kind: Hashable, Sendable {
    /// The cancellation flag was raised.
    case cancelled
    /// No room on the device, or the file-size limit was met.
    case outOfSpace
    /// An allocation failed, or met the process's limit.
    case outOfMemory
    /// A descriptor could not be read or written.
    case inputOutput
    /// The plan and the inputs or outputs that came with it do not fit together.
    case invalidPlan
    /// A library refused what it should be able to do.
    case library
  }

  package let kind: Kind
  /// What happened, in a sentence that names the failing call.
  package let detail: String

  package init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  package var description: String { detail }
}
