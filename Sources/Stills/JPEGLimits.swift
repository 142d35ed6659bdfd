/// What a decoder accepts; both pixel limits are checked against the header, before anything is decoded.
package struct JPEGLimits: Hashable, Sendable {
  /// Pixels of a picture that is decoded row by row.
  package let pixels: Int
  /// Pixels of a picture in several scans, whose coefficients are held whole: about six bytes a pixel.
  package let bufferedPixels: Int
  /// Scans of a picture; encoders write about ten, and each costs a pass over all pixels.
  package let scans: Int

  package init(pixels: Int, bufferedPixels: Int? = nil, scans: Int = 64) {
    precondition(pixels > 0 && scans > 0, "a limit of nothing")
    self.pixels = pixels
    self.bufferedPixels = bufferedPixels ?? pixels
    self.scans = scans
  }
}
