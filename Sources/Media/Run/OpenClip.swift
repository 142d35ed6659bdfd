/// An input that is open, and how its pictures lie in memory.
struct OpenClip {
  let reader: ClipReader
  let layout: FrameLayout
  /// Nil where the length does not matter.
  let scan: PacketScan?
}
