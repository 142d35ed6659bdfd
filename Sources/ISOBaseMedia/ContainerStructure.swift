/// What the boxes of a sound file say, without a look at its media.
package struct ContainerStructure: Sendable, Hashable {
  /// The kind of container, by its major brand.
  package enum Family: String, Sendable, Hashable {
    /// QuickTime.
    case mov
    case mp4
    case threeGP = "3gp"
  }

  package let family: Family
  /// Nil for QuickTime files from before there were brands.
  package let majorBrand: BoxType?
  /// Where the `moov` box begins, in bytes.
  package let movieOffset: Int64
  /// Where the first `mdat` box begins, in bytes.
  package let mediaDataOffset: Int64
  /// Whether samples lie in movie fragments (`mvex`, `moof`).
  package let isFragmented: Bool
  /// The handler type of each track in order: `vide`, `soun`, `meta`…
  package let handlers: [BoxType]

  /// Whether a player can begin before the whole file has come.
  package var isFastStart: Bool { movieOffset < mediaDataOffset }
}
