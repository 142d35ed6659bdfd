/// What photos may be; checked against their headers, before anything is decoded.
package struct PhotoLimits: Codable, Sendable, Hashable {
  /// Of one file.
  package var bytes: Int64
  /// Width times height.
  package var pixels: Int
  /// Of a JPEG in several scans, whose coefficients are held whole.
  package var progressivePixels: Int
  package var formats: [PhotoFormat]

  package init(bytes: Int64, pixels: Int, progressivePixels: Int, formats: [PhotoFormat]) {
    self.bytes = bytes
    self.pixels = pixels
    self.progressivePixels = progressivePixels
    self.formats = formats
  }
}
