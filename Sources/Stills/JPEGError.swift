internal import CJPEG

/// Why a JPEG could not be read or written; the texts are libjpeg's own.
package enum JPEGError: Error, Hashable, CustomStringConvertible {
  /// No JPEG, or one whose data contradict themselves.
  case malformed(String)
  /// The data end before the picture does.
  case truncated(String)
  /// A kind that is not decoded here: 12 bit, four components, lossless.
  case unsupported(String)
  /// The header promises more pixels than the limit; nothing was decoded.
  case tooManyPixels(String)
  /// A progressive picture with more scans than the limit.
  case tooManyScans(String)
  /// More than 65500 pixels along an edge.
  case tooLarge(String)
  /// libjpeg or its wrapper found no memory.
  case outOfMemory
  /// The file that it lies in cannot be read.
  case unreadable(String)

  init(_ failure: cjpeg_failure) {
    let message = withUnsafeBytes(of: failure.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    self =
      switch failure.status {
      case cjpeg_truncated: .truncated(message)
      case cjpeg_unsupported: .unsupported(message)
      case cjpeg_too_many_pixels: .tooManyPixels(message)
      case cjpeg_too_many_scans: .tooManyScans(message)
      case cjpeg_too_large: .tooLarge(message)
      case cjpeg_out_of_memory: .outOfMemory
      case cjpeg_unreadable: .unreadable(message)
      default: .malformed(message)
      }
  }

  package var description: String {
    switch self {
    case .malformed(let message): "malformed JPEG: \(message)"
    case .truncated(let message): "truncated JPEG: \(message)"
    case .unsupported(let message): "unsupported JPEG: \(message)"
    case .tooManyPixels(let message), .tooManyScans(let message), .tooLarge(let message): "JPEG refused: \(message)"
    case .outOfMemory: "no memory for a JPEG"
    case .unreadable(let message): message
    }
  }
}
