package import Model

/// What the boxes of a sound file say, without a look at its media.
package struct ContainerStructure: Sendable, Hashable {
  /// The kind of container, by its major brand.
  package let family: ContainerName
  /// Nil for QuickTime files from before there were brands.
  package let majorBrand: BoxType?
  /// Where the `moov` box begins, in bytes.
  package let movieOffset: Int64
  /// Where its content lies.
  package let movieContent: Range<Int64>
  /// Where the first `mdat` box begins, in bytes.
  package let mediaDataOffset: Int64
  /// Whether samples lie in movie fragments (`mvex`, `moof`).
  package let isFragmented: Bool
  /// The types of the outermost boxes, in order.
  package let outermost: [BoxType]
  /// What the outermost boxes give away, without `moov`, in order.
  package let identifying: [IdentifyingMetadata]
  /// The handler type of each track in order: `vide`, `soun`, `meta`…
  package let handlers: [BoxType]

  /// Whether a player can begin before the whole file has come.
  package var isFastStart: Bool { movieOffset < mediaDataOffset }
}
