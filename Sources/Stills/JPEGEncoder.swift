internal import CImages
package import Kernels

/// An encoder of progressive JPEG images from planes, by CJPEGCoder.
///
/// The coefficients equal libjpeg's. The files have a JFIF header and no other metadata, are as small as with libjpeg's
/// default progression and take a sixth of the time.
package struct JPEGEncoder: Hashable, Sendable {
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
