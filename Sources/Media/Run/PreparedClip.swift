/// An input that is open, with its first picture decoded.
struct PreparedClip {
  let reader: ClipReader
  let layout: PictureLayout
  /// Nil where the length does not matter.
  let scan: PacketScan?
}
