/// What a decoder may do, whatever the data ask of it.
package struct DecoderLimits: Hashable, Sendable {
  /// The codecs that may be opened, by libav's names.
  package var codecs: [String]
  /// Of one picture, width times height.
  package var pixels: Int
  /// Of one frame of sound, in each channel.
  package var samples: Int

  package init(codecs: [String], pixels: Int, samples: Int = 1 << 16) {
    self.codecs = codecs
    self.pixels = pixels
    self.samples = samples
  }
}
