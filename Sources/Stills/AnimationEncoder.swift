internal import CImages

/// An encoder of animated WebP without metadata, which keeps transparency. The animation repeats without end.
///
/// The same frames, times and quality give the same bytes.
package struct AnimationEncoder: ~Copyable {
  private let animation: OpaquePointer

  /// Starts an animation of this size in pixels, with a quality of 1 to 100.
  package init(width: Int, height: Int, quality: Int) throws(ImageError) {
    var failure = cimages_failure()
    var started: OpaquePointer?
    let status = cimages_start_animation(
      UInt32(clamping: width), UInt32(clamping: height), Int32(clamping: quality), &started, &failure)
    guard status == cimages_ok, let started else { throw ImageError(failure) }
    animation = started
  }

  deinit { cimages_close_animation(animation) }

  /// Adds a frame of any size, which is scaled to the size of the animation.
  ///
  /// - Parameters:
  ///   - pixels: 32-bit RGBA without padding.
  ///   - start: when it is shown, in milliseconds from the start of the first one.
  package mutating func add(
    _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, at start: Int
  ) throws(ImageError) {
    var failure = cimages_failure()
    let status = cimages_add_frame(
      animation, pixels, UInt32(clamping: width), UInt32(clamping: height), Int32(clamping: start), &failure)
    guard status == cimages_ok else { throw ImageError(failure) }
  }

  /// Ends the last frame, and returns the file.
  ///
  /// - Parameter end: in milliseconds from the start of the first frame.
  package mutating func finish(at end: Int) throws(ImageError) -> [UInt8] {
    var failure = cimages_failure()
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard cimages_finish_animation(animation, Int32(clamping: end), &bytes, &count, &failure) == cimages_ok else {
      throw ImageError(failure)
    }
    defer { cimages_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }
}
