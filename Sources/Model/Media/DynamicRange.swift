/// How bright a picture's numbers may mean, told by its transfer function (ITU-R BT.2100).
package enum DynamicRange: String, Codable, Sendable {
  case standard = "sdr"
  /// Hybrid log-gamma.
  case hybridLogGamma = "hlg"
  /// Perceptual quantiser.
  case perceptualQuantizer = "pq"
}

extension DynamicRange {
  /// The range that a transfer function has, by libav's name; never told by the depth of the samples.
  package init(transfer: String) {
    switch transfer {
    case "arib-std-b67": self = .hybridLogGamma
    case "smpte2084": self = .perceptualQuantizer
    default: self = .standard
    }
  }
}
