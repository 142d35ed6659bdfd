internal import CImages

/// Why a PNG, WebP, HEIF or AVIF could not be read or written; the texts are the libraries' own.
package enum ImageError: Error, Hashable, Sendable {
  /// Not of the format, or its data contradict themselves.
  case malformed(String)
  /// The data end before the picture does.
  case truncated(String)
  /// Of the format, but of a kind that is not decoded here.
  case unsupported(String)
  /// By its header; nothing was decoded.
  case tooManyPixels
  case outOfMemory

  init(_ failure: cimages_failure) {
    let message = withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    self =
      switch failure.status {
      case cimages_truncated: .truncated(message)
      case cimages_unsupported: .unsupported(message)
      case cimages_too_many_pixels: .tooManyPixels
      case cimages_out_of_memory: .outOfMemory
      default: .malformed(message)
      }
  }
}
