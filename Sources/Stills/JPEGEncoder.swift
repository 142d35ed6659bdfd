internal import CJPEG

/// How pictures become JPEG files: 8 bit, optimised Huffman tables, a JFIF header and no other metadata.
package struct JPEGEncoder: Hashable, Sendable {
  /// How colour is stored.
  package enum Chroma: Hashable, Sendable {
    /// 4:2:0, half the width and half the height.
    case halved
    /// 4:4:4.
    case full
  }

  /// libjpeg's scale, 1 to 100.
  package let quality: Int
  /// How colour is stored.
  package let chroma: Chroma
  /// Whether the picture comes in several scans, coarse to fine: smaller, and costlier to make.
  package let isProgressive: Bool

  package init(quality: Int, chroma: Chroma = .halved, isProgressive: Bool = true) {
    precondition(1...100 ~= quality, "JPEG quality is 1 to 100")
    self.quality = quality
    self.chroma = chroma
    self.isProgressive = isProgressive
  }

  /// Encodes a picture; the same pixels and settings give the same bytes.
  package func encode(_ view: RGBView) throws(JPEGError) -> [UInt8] {
    guard let width = UInt32(exactly: view.width), let height = UInt32(exactly: view.height) else {
      throw .tooLarge("\(view.width) x \(view.height) pixels")
    }
    var picture = cjpeg_picture(
      rows: view.base.assumingMemoryBound(to: UInt8.self), stride: view.stride, width: width, height: height,
      quality: Int32(quality), halves_chroma: chroma == .halved ? 1 : 0, is_progressive: isProgressive ? 1 : 0)
    var failure = cjpeg_failure()
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard cjpeg_encode(&picture, &bytes, &count, &failure) == cjpeg_ok else { throw JPEGError(failure) }
    defer { cjpeg_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Encodes a picture; the same pixels and settings give the same bytes.
  package func encode(_ image: RGBImage) throws(JPEGError) -> [UInt8] {
    try image.withView { (view) throws(JPEGError) in try encode(view) }
  }
}
