/// Where the first sample of a colour plane of 4:2:0 is, from the first sample of luma, in 256ths of the distance between
/// two samples of luma (libswscale's `src_h_chr_pos`).
package struct ChromaPosition: Hashable, Sendable {
  package var x: Int
  package var y: Int

  package init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }

  /// Below each second sample, half-way to the next row, as in MPEG-4 and H.264 (ITU-T H.264, E.2.1, type 0).
  package static let left = ChromaPosition(x: 0, y: 128)
  /// In the middle of four samples, as in JPEG and WebP.
  package static let centre = ChromaPosition(x: 128, y: 128)

  /// The position after mirroring left to right, and then rotating by quarter turns, which are clockwise if positive.
  package func turned(quarterTurns: Int, mirroring: Bool) -> ChromaPosition {
    var position = mirroring ? ChromaPosition(x: 256 - x, y: y) : self
    // In two's complement the last two bits are the rest of whole turns, of negative numbers too.
    for _ in 0..<(quarterTurns & 3) { position = ChromaPosition(x: 256 - position.y, y: position.x) }
    return position
  }
}
