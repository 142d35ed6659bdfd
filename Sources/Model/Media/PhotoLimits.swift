/// The limits of photos, which are checked against their headers, before anything is decoded.
package struct PhotoLimits: Codable, Sendable, Hashable {
  /// The maximum size of one file.
  package var bytes: Int64
  /// The maximum of width times height.
  package var pixels: Int
  /// The maximum of width times height for a progressive JPEG, whose coefficients stay in memory until its last scan.
  package var progressivePixels: Int
  package var formats: [PhotoFormat]

  package init(bytes: Int64, pixels: Int, progressivePixels: Int, formats: [PhotoFormat]) {
    self.bytes = bytes
    self.pixels = pixels
    self.progressivePixels = progressivePixels
    self.formats = formats
  }
}
