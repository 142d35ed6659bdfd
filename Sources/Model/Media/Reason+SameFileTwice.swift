extension Reason {
  /// One file in both slots: two cameras cannot have written the same bytes.
  package static let sameFileTwice = Reason(
    .sameFileTwice, input: nil, detail: "front and back are the same file; submit the clip of each camera")
}
