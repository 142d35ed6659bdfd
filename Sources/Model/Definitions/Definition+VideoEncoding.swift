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
  }
}
