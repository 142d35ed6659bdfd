/// What a JPEG says of itself before its pixels.
package struct JPEGHeader: Hashable, Sendable {
  /// Pixels in a row, as stored: an orientation tag is not applied.
  package let width: Int
  /// The number of rows, as stored.
  package let height: Int
  /// 1 for grey, 3 for colour, 4 for printing inks.
  package let components: Int
  /// Whether the picture comes in several scans, coarse to fine.
  package let isProgressive: Bool
  package let color: JPEGColor
}
