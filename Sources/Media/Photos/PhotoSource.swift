import AV
import ISOBaseMedia
import Model
import Platform
import Stills

/// The file of a photo with its format, before decoding.
struct PhotoSource: Sendable {
  let file: OpenFile
  /// In bytes.
  let size: Int64
  let format: PhotoFormat
  let limits: PhotoLimits

  /// Reads the size and the first bytes of the file, and refuses those that the limits do not allow.
  init(_ file: OpenFile, limits: PhotoLimits) throws(RunFailure) {
    let size: Int64
    let start: [UInt8]
    do {
      size = try file.descriptor.size()
      start = try file.descriptor.bytes(count: FileSignature.length, at: 0)
    } catch {
      throw RunFailure(error)
    }
    if size == 0 { throw Self.refusal(.emptyFile, "the file has no bytes") }
    if size > limits.bytes { throw .refused(.tooManyBytes(size, limit: limits.bytes, input: .photo)) }
    guard let format = PhotoFormat(start: start), limits.formats.contains(format) else {
      throw .refused(Reason(unsupportedPhoto: FileSignature(start), accepted: limits.formats))
    }
    self.format = format
    self.limits = limits
    self.file = file
    self.size = size
  }

  /// The first bytes of the file, up to `maxCount`.
  func bytes(_ maxCount: Int = .max) throws(RunFailure) -> [UInt8] {
    do { return try file.descriptor.bytes(count: min(maxCount, Int(size)), at: 0) } catch { throw RunFailure(error) }
  }

  // Phones write segments of less than a hundred kilobytes.
  private static let segmentBytes = 1 << 18

  /// The segments of a JPEG before its image data; reads only as much of the file as needed.
  func segments() throws(RunFailure) -> JPEGSegments {
    let segments = JPEGSegments(try bytes(Self.segmentBytes))
    return segments.isCut && size > Self.segmentBytes ? JPEGSegments(try bytes()) : segments
  }

  /// A refusal of the photo.
  static func refusal(_ code: ReasonCode, _ finding: String) -> RunFailure {
    .refused(Reason(code, input: .photo, finding: finding))
  }

  /// The refusal or failure for an error of the JPEG decoder.
  func failure(for error: JPEGError) -> RunFailure {
    switch error {
    case .malformed(let message): Self.refusal(.corruptImage, "its JPEG data are damaged (\(message))")
    case .truncated: .refused(.truncatedPhoto)
    case .unsupported(let message): Self.refusal(.unsupportedCodec, "its kind of JPEG is not supported (\(message))")
    case .tooManyPixels(let width, let height):
      .refused(.tooManyHeaderPixels(Size(width: width, height: height), limits))
    case .tooManyBufferedPixels(let width, let height):
      .refused(.tooManyProgressivePixels(Size(width: width, height: height), limits))
    case .tooLongEdge(let width, let height, let limit):
      .refused(.tooLongEdge(Size(width: width, height: height), limit: limit))
    case .tooLarge(let message): Self.refusal(.tooLarge, "it is too large for a JPEG (\(message))")
    case .tooManyScans: .refused(.tooManyScans)
    case .outOfMemory: .failed(MediaError(.outOfMemory, "libjpeg is out of memory"))
    case .unreadable(let message): .failed(MediaError(.inputOutput, message))
    }
  }

  /// The refusal for the boxes of a HEIF or AVIF.
  func failure(for refusal: HEIFRefusal) -> RunFailure {
    .refused(Reason(refusal, limits: limits))
  }

  /// The refusal or failure for an error of FFmpeg's decoder of images.
  func failure(for error: AVError) -> RunFailure {
    if error.isOutOfMemory { return .failed(MediaError(.outOfMemory, "\(error)")) }
    return Self.refusal(.corruptImage, "its data are damaged (\(error.message))")
  }

  /// The refusal or failure for an error of another decoder.
  func failure(for error: ImageError) -> RunFailure {
    switch error {
    case .malformed(let message): Self.refusal(.corruptImage, "its data are damaged (\(message))")
    case .truncated: .refused(.truncatedPhoto)
    case .unsupported(let message): Self.refusal(.unsupportedCodec, "its kind of image is not supported (\(message))")
    case .tooManyPixels(let width, let height):
      // libheif's own limits say no size.
      .refused(.tooManyPixels(width > 0 ? Size(width: width, height: height) : nil, limits))
    case .tooLongEdge(let width, let height, let limit):
      .refused(.tooLongEdge(Size(width: width, height: height), limit: limit))
    case .outOfMemory: .failed(MediaError(.outOfMemory, "a decoder is out of memory"))
    }
  }
}
