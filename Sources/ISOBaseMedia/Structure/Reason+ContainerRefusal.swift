package import Model

extension Reason {
  /// A refusal by an input's boxes.
  package init(_ refusal: ContainerRefusal, input: InputName) {
    self.init(Self.code(of: refusal), input: input, detail: refusal.description, byteOffset: refusal.offset)
  }

  private static func code(of refusal: ContainerRefusal) -> ReasonCode {
    switch refusal {
    case .empty: .emptyFile
    case .unsupported: .unsupportedContainer
    // Boxes that contradict each other are, of what phones and networks do, a file that was not written to its end.
    case .truncated, .damaged: .truncatedContainer
    case .noVideoTrack: .noVideoStream
    }
  }
}
