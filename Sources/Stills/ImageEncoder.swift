internal import CImages

/// Encodes pictures in formats other than JPEG, without metadata.
package enum ImageEncoder: Sendable {
  case webp
  case avif

  /// Encodes a picture; the same pixels and quality, 1 to 100, give the same bytes.
  package func encode(_ image: RGBImage, quality: Int) throws(ImageError) -> [UInt8] {
    var failure = cimages_failure()
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    let encode = self == .webp ? cimages_encode_webp : cimages_encode_avif
    let status = image.withView { view in
      encode(
        view.base.assumingMemoryBound(to: UInt8.self), view.stride, UInt32(view.width), UInt32(view.height),
        Int32(quality), &bytes, &count, &failure)
    }
    guard status == cimages_ok else { throw ImageError(failure) }
    defer { cimages_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }
}
