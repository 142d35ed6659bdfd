/// How bright a picture's numbers may mean, told by its transfer function (ITU-R BT.2100).
package enum DynamicRange: String, Codable, Sendable {
  case standard = "sdr"
  /// Hybrid log-gamma.
  case hybridLogGamma = "hlg"
  /// Perceptual quantiser.
  case perceptualQuantizer = "pq"
}
