/// The format of the samples of a track with the entry `ipcm` or `fpcm` (ISO/IEC 23003-5, 5).
package struct UncompressedSound: Hashable, Sendable {
  /// The bits of a sample.
  package let bits: Int
  package let isLittleEndian: Bool
  package let isFloatingPoint: Bool

  // The boxes of an audio sample entry follow its fixed part (ISO/IEC 14496-12, 12.2.3).
  private static let fixedBytes = 28

  /// Parses a sample entry; nil for another entry, or without the box `pcmC`.
  init?(_ entry: Box) {
    guard entry.type == "ipcm" || entry.type == "fpcm",
      let reader = entry.children(after: Self.fixedBytes).first(where: { $0.type == "pcmC" })?.reader,
      let flags = reader.byte(at: 4), let bits = reader.byte(at: 5)
    else { return nil }
    self.bits = Int(bits)
    isLittleEndian = flags & 1 == 1
    isFloatingPoint = entry.type == "fpcm"
  }

  /// FFmpeg's name of the codec: `pcm_s24le`.
  package var codec: String { "pcm_\(isFloatingPoint ? "f" : "s")\(bits)\(isLittleEndian ? "le" : "be")" }
}
