extension Definition {
  /// How video is encoded.
  package struct VideoEncoding: Codable, Sendable, Hashable {
    /// The codec by its common name.
    package enum Codec: String, Codable, Sendable {
      case h264
    }

    package var codec: Codec
    /// x264's preset.
    package var preset: String
    /// x264's constant rate factor.
    package var crf: Double
    /// Further x264 parameters by their names.
    package var x264: [String: Int]

    package init(codec: Codec = .h264, preset: String, crf: Double, x264: [String: Int] = [:]) {
      self.codec = codec
      self.preset = preset
      self.crf = crf
      self.x264 = x264
    }

    /// What x264 is given beside preset and rate factor, in its own notation: `bframes=1:cpu-independent=1`.
    ///
    /// Without `cpu-independent` its vector code weighs blocks by memory that nobody has written (`mbtree_propagate_list`),
    /// so that now and then the same pictures become other bytes.
    package var x264Parameters: String {
      x264.merging(["cpu-independent": 1]) { named, _ in named }
        .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
    }
  }
}
