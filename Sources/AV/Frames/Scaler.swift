internal import CFFmpeg

/// Scales images and converts their pixel format and colours, with the same result on every processor (libswscale).
package struct Scaler: ~Copyable {
  private let context: OpaquePointer
  private let source: Side
  private let target: Side

  /// The format of the source or the target.
  package struct Side: Hashable, Sendable {
    package var width: Int
    package var height: Int
    package var format: PixelFormat
    package var matrix: ColorMatrix
    package var isFullRange: Bool

    package init(width: Int, height: Int, format: PixelFormat, matrix: ColorMatrix, isFullRange: Bool) {
      self.width = width
      self.height = height
      self.format = format
      self.matrix = matrix
      self.isFullRange = isFullRange
    }
  }

  /// Creates a scaler that uses bicubic interpolation.
  package init(from source: Side, to target: Side) throws(AVError) {
    // Without full chroma, RGB is one or two codes too dark.
    let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT
    guard
      let context = sws_getContext(
        Int32(source.width), Int32(source.height), source.format.value,
        Int32(target.width), Int32(target.height), target.format.value, flags, nil, nil, nil)
    else { throw AVError(cffmpeg_error(EINVAL), "sws_getContext") }
    let status = sws_setColorspaceDetails(
      context, sws_getCoefficients(source.matrix.code), source.isFullRange ? 1 : 0,
      sws_getCoefficients(target.matrix.code), target.isFullRange ? 1 : 0, 0, 1 << 16, 1 << 16)
    if status < 0 { sws_freeContext(context) }
    try AVError.check(status, "sws_setColorspaceDetails")
    self.context = context
    self.source = source
    self.target = target
  }

  deinit { sws_freeContext(context) }

  /// The planes of an image: the base address and the stride in bytes of each.
  package struct Planes {
    var bases: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
    var strides: (Int32, Int32, Int32)

    /// Creates an image of one plane.
    package init(_ base: UnsafeMutableRawPointer, stride: Int) {
      bases = (base.assumingMemoryBound(to: UInt8.self), nil, nil)
      strides = (Int32(stride), 0, 0)
    }

    /// Creates an image of three planes.
    package init(
      _ first: (base: UnsafeMutableRawPointer, stride: Int), _ second: (base: UnsafeMutableRawPointer, stride: Int),
      _ third: (base: UnsafeMutableRawPointer, stride: Int)
    ) {
      bases = (
        first.base.assumingMemoryBound(to: UInt8.self), second.base.assumingMemoryBound(to: UInt8.self),
        third.base.assumingMemoryBound(to: UInt8.self)
      )
      strides = (Int32(first.stride), Int32(second.stride), Int32(third.stride))
    }
  }

  /// Converts an image.
  ///
  /// - Parameter target: memory whose rows are aligned to 64 bytes and padded by 64 bytes: vector loops write past the
  ///   end of a row.
  package func scale(_ source: Planes, to target: Planes) throws(AVError) {
    let from = (
      UnsafePointer(source.bases.0), UnsafePointer(source.bases.1), UnsafePointer(source.bases.2),
      UnsafePointer<UInt8>?.none
    )
    let fromStrides = (source.strides.0, source.strides.1, source.strides.2, Int32(0))
    let to = (target.bases.0, target.bases.1, target.bases.2, UnsafeMutablePointer<UInt8>?.none)
    let toStrides = (target.strides.0, target.strides.1, target.strides.2, Int32(0))
    let height = Int32(self.source.height)
    let status = withUnsafeBytes(of: from) { from in
      withUnsafeBytes(of: fromStrides) { fromStrides in
        withUnsafeBytes(of: to) { to in
          withUnsafeBytes(of: toStrides) { toStrides in
            sws_scale(
              context, from.assumingMemoryBound(to: UnsafePointer<UInt8>?.self).baseAddress,
              fromStrides.assumingMemoryBound(to: Int32.self).baseAddress, 0, height,
              to.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self).baseAddress,
              toStrides.assumingMemoryBound(to: Int32.self).baseAddress)
          }
        }
      }
    }
    try AVError.check(status, "sws_scale")
  }
}
