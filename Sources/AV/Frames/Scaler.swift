internal import CFFmpeg

/// Scales images and converts their pixel format and colours, with the same result on every processor (libswscale).
package struct Scaler: ~Copyable {
  private let context: OpaquePointer
  /// The second of two steps, through red, green and blue; nil if one step is enough.
  private let second: OpaquePointer?
  /// The image between the steps; nil for one step.
  private let between: Planes?
  private let source: Side
  /// The number of rows of `between`.
  private let rowsBetween: Int

  /// The format of the source or the target.
  package struct Side: Hashable, Sendable {
    package var width: Int
    package var height: Int
    package var format: PixelFormat
    package var matrix: ColorMatrix
    package var isFullRange: Bool
    /// Where the samples of the colour planes are, if there are fewer of them than of luma.
    package var chroma: ChromaPosition

    package init(
      width: Int, height: Int, format: PixelFormat, matrix: ColorMatrix, isFullRange: Bool,
      chroma: ChromaPosition = .left
    ) {
      self.width = width
      self.height = height
      self.format = format
      self.matrix = matrix
      self.isFullRange = isFullRange
      self.chroma = chroma
    }
  }

  /// Creates a scaler that uses bicubic interpolation.
  package init(from source: Side, to target: Side) throws(AVError) {
    let isDirect = source.matrix == target.matrix || source.format == .rgb24 || target.format == .rgb24
    let contexts =
      try isDirect ? (Self.context(from: source, to: target), nil) : Self.contexts(from: source, to: target)
    context = contexts.0
    second = contexts.1
    self.source = source
    // The image between the steps has the size of the smaller one.
    let smaller = source.width * source.height > target.width * target.height ? target : source
    rowsBetween = smaller.height
    let stride = (3 * smaller.width + 127) / 64 * 64
    between =
      isDirect
      ? nil
      : Planes(
        UnsafeMutableRawPointer.allocate(byteCount: stride * smaller.height + 64, alignment: 64), stride: stride)
  }

  /// The steps through RGB, by which libswscale converts between matrices itself; but then it forgets where the samples of
  /// the colour planes are.
  private static func contexts(
    from source: Side, to target: Side
  ) throws(AVError) -> (OpaquePointer, OpaquePointer?) {
    let smaller = source.width * source.height > target.width * target.height ? target : source
    let color = Side(
      width: smaller.width, height: smaller.height, format: .rgb24, matrix: .bt709, isFullRange: true)
    let first = try context(from: source, to: color)
    do throws(AVError) {
      return (first, try context(from: color, to: target))
    } catch {
      sws_freeContext(first)
      throw error
    }
  }

  private static func context(from source: Side, to target: Side) throws(AVError) -> OpaquePointer {
    guard let context = sws_alloc_context() else { throw .outOfMemory("sws_alloc_context") }
    let object = UnsafeMutableRawPointer(context)
    // Without full chroma, RGB is one or two codes too dark.
    let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT
    var options = [
      ("srcw", source.width), ("srch", source.height), ("src_format", Int(source.format.value.rawValue)),
      ("dstw", target.width), ("dsth", target.height), ("dst_format", Int(target.format.value.rawValue)),
      ("sws_flags", Int(flags)),
    ]
    if source.format.isPlanar420 {
      options += [("src_h_chr_pos", source.chroma.x), ("src_v_chr_pos", source.chroma.y)]
    }
    if target.format.isPlanar420 {
      options += [("dst_h_chr_pos", target.chroma.x), ("dst_v_chr_pos", target.chroma.y)]
    }
    do throws(AVError) {
      for (name, value) in options {
        try AVError.check(av_opt_set_int(object, name, Int64(value), 0), "av_opt_set_int")
      }
      try AVError.check(sws_init_context(context, nil, nil), "sws_init_context")
      try AVError.check(
        sws_setColorspaceDetails(
          context, sws_getCoefficients(source.matrix.code), source.isFullRange ? 1 : 0,
          sws_getCoefficients(target.matrix.code), target.isFullRange ? 1 : 0, 0, 1 << 16, 1 << 16),
        "sws_setColorspaceDetails")
    } catch {
      sws_freeContext(context)
      throw error
    }
    return context
  }

  deinit {
    sws_freeContext(context)
    sws_freeContext(second)
    between?.bases.0?.deallocate()
  }

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
    guard let second, let between else { return try Self.scale(source, rows: self.source.height, to: target, context) }
    try Self.scale(source, rows: self.source.height, to: between, context)
    try Self.scale(between, rows: rowsBetween, to: target, second)
  }

  private static func scale(
    _ source: Planes, rows: Int, to target: Planes, _ context: OpaquePointer
  ) throws(AVError) {
    let from = (
      UnsafePointer(source.bases.0), UnsafePointer(source.bases.1), UnsafePointer(source.bases.2),
      UnsafePointer<UInt8>?.none
    )
    let fromStrides = (source.strides.0, source.strides.1, source.strides.2, Int32(0))
    let to = (target.bases.0, target.bases.1, target.bases.2, UnsafeMutablePointer<UInt8>?.none)
    let toStrides = (target.strides.0, target.strides.1, target.strides.2, Int32(0))
    let status = withUnsafeBytes(of: from) { from in
      withUnsafeBytes(of: fromStrides) { fromStrides in
        withUnsafeBytes(of: to) { to in
          withUnsafeBytes(of: toStrides) { toStrides in
            sws_scale(
              context, from.assumingMemoryBound(to: UnsafePointer<UInt8>?.self).baseAddress,
              fromStrides.assumingMemoryBound(to: Int32.self).baseAddress, 0, Int32(rows),
              to.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self).baseAddress,
              toStrides.assumingMemoryBound(to: Int32.self).baseAddress)
          }
        }
      }
    }
    try AVError.check(status, "sws_scale")
  }
}
