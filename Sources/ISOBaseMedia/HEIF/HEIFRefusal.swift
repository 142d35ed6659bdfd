package import Model

/// The reason why a HEIF or AVIF is not decoded; the texts are clauses.
package enum HEIFRefusal: Error, Sendable, Hashable {
  /// The file is shorter than its boxes say.
  case truncated(String)
  /// The boxes are inconsistent.
  case damaged(String)
  /// The file uses a feature that is not supported.
  case unsupported(String)
  /// The image exceeds the limit by its size, or the sum of the items that it is derived from, without one.
  case tooManyPixels(Size?)
}

extension Reason {
  /// The reason for a HEIF or AVIF whose boxes are rejected.
  package init(_ refusal: HEIFRefusal, limits: PhotoLimits) {
    switch refusal {
    case .truncated(let finding): self.init(.truncatedContainer, input: .photo, finding: finding)
    case .damaged(let finding): self.init(.corruptImage, input: .photo, finding: finding)
    case .unsupported(let finding): self.init(.unsupportedCodec, input: .photo, finding: finding)
    case .tooManyPixels(let size): self = .tooManyPixels(size, limits)
    }
  }
}
