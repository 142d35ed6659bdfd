internal import CImages
package import Kernels

/// An encoder of JPEG images by libjpeg: optimised Huffman tables, a JFIF header and no other metadata.
package struct JPEGEncoder: Hashable, Sendable {
  /// The chroma subsampling.
  package enum Chroma: Hashable, Sendable {
    /// 4:2:0.
    case halved
    /// 4:4:4.
    case full
  }

  /// The quality in libjpeg's scale, 1 to 100.
  package let quality: Int
  package let chroma: Chroma
  /// Whether the image is progressive, which is smaller but takes longer to encode.
  package let isProgressive: Bool

  package init(quality: Int, chroma: Chroma = .halved, isProgressive: Bool = true) {
    precondition(1...100 ~= quality, "JPEG quality is 1 to 100")
    self.quality = quality
    self.chroma = chroma
    self.isProgressive = isProgressive
  }

  /// Encodes an image. The same pixels and settings give the same bytes.
  package func encode(_ view: RGBView) throws(JPEGError) -> [UInt8] {
    guard let width = UInt32(exactly: view.width), let height = UInt32(exactly: view.height) else {
      throw .tooLarge("\(view.width) x \(view.height) pixels")
    }
    var image = cjpeg_image(
      rows: view.base.assumingMemoryBound(to: UInt8.self), stride: view.stride, width: width, height: height,
      quality: Int32(quality), halves_chroma: chroma == .halved ? 1 : 0, is_progressive: isProgressive ? 1 : 0)
    var failure = cjpeg_failure()
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard cjpeg_encode(&image, &bytes, &count, &failure) == cjpeg_ok else { throw JPEGError(failure) }
    defer { cjpeg_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Encodes an image. The same pixels and settings give the same bytes.
  package func encode(_ image: RGBImage) throws(JPEGError) -> [UInt8] {
    try image.withView { (view) throws(JPEGError) in try encode(view) }
  }
}

/// An encoder of progressive JPEG images from planes, by CJPEGCoder.
///
/// The coefficients equal libjpeg's. The files are as small as with libjpeg's default progression and take a sixth of
/// the time.
package struct PlanarJPEGEncoder: Hashable, Sendable {
  /// The quality in libjpeg's scale, 1 to 100.
  package let quality: Int

  package init(quality: Int) {
    precondition(1...100 ~= quality, "JPEG quality is 1 to 100")
    self.quality = quality
  }

  /// Encodes an image with edges of at most 65500 pixels.
  ///
  /// - Parameter portable: whether to use no instructions that only some processors have. The result is the same.
  package func encode(_ image: PlanarImage, portable: Bool = false) throws(JPEGError) -> [UInt8] {
    var planes = cjpegcoder_image()
    func bytes(_ index: Int) -> UnsafePointer<UInt8> {
      UnsafePointer(image.plane(index).base.assumingMemoryBound(to: UInt8.self))
    }
    planes.plane = (bytes(0), bytes(1), bytes(2))
    planes.stride = (image.plane(0).stride, image.plane(1).stride, image.plane(2).stride)
    planes.components = 3
    planes.width = Int32(clamping: image.width)
    planes.height = Int32(clamping: image.height)
    planes.chroma_width = Int32(clamping: image.chromaSize.width)
    planes.chroma_height = Int32(clamping: image.chromaSize.height)
    var file = cjpegcoder_buffer()
    defer { cjpegcoder_free(&file) }
    let status = cjpegcoder_encode(&planes, Int32(quality), portable ? 1 : 0, &file)
    if status == CJPEGCODER_BAD_ARGUMENT { throw .tooLarge("\(image.width) x \(image.height) pixels") }
    guard status == CJPEGCODER_OK else { throw .outOfMemory }
    return [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count))
  }
}
