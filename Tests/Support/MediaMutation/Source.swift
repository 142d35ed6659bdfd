import BoxTesting

/// A valid or broken media file that mutations start from, in the forms in which it is changed.
package struct Source: Sendable {
  package let name: String
  package let bytes: [UInt8]
  let tree: BoxTree?
  let movie: SampledMovie?
  /// Nil: not a WebM.
  let elements: ElementTree?
  let jpeg: JPEGParts?
  let chunks: ChunkedImage?
  let gif: GIFBlocks?

  package init(_ name: String, _ bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
    tree = bytes.dropFirst(4).starts(with: "ftyp".utf8) || name.hasSuffix(".mov") ? BoxTree(bytes) : nil
    movie = SampledMovie(bytes)
    elements = ElementTree(bytes)
    jpeg = JPEGParts(bytes)
    chunks = ChunkedImage(bytes)
    gif = GIFBlocks(bytes)
  }
}
