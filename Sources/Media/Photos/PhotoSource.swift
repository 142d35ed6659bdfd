import ISOBaseMedia
import Model
import Platform
import Stills

/// A photo's file and what it is, before anything is decoded.
struct PhotoSource: Sendable {
  let file: OpenFile
  /// In bytes.
  let size: Int64
  let format: PhotoFormat
  let limits: PhotoLimits

  /// Looks at the file's size and its first bytes, which are to be what the limits allow.
  init(_ file: OpenFile, limits: PhotoLimits) throws(Stop) {
    let size: Int64
    let start: [UInt8]
    do {
      size = try file.descriptor.size()
      start = try file.descriptor.bytes(count: FileSignature.length, at: 0)
    } catch {
      throw Stop(error)
    }
    if size == 0 { throw Self.refusal(.emptyFile, "the file has no bytes") }
    if size > limits.bytes {
      throw Self.refusal(.tooLarge, "the file has \(size) bytes; at most \(limits.bytes) are taken")
    }
    guard let format = PhotoFormat(start: start), limits.formats.contains(format) else {
      throw .refused(Reason(unsupportedPhoto: FileSignature(start), taken: limits.formats))
    }
    self.format = format
    self.limits = limits
    self.file = file
    self.size = size
  }

  /// The first bytes, all of them if there are no more.
  func bytes(_ most: Int = .max) throws(Stop) -> [UInt8] {
    do { return try file.descriptor.bytes(count: min(most, Int(size)), at: 0) } catch { throw Stop(error) }
  }

  /// What stands in a JPEG before its picture; the rest of the file is not read for it.
  func segments() throws(Stop) -> JPEGSegments {
    let segments = JPEGSegments(try bytes(1 << 18))
    return segments.isCut && size > 1 << 18 ? JPEGSegments(try bytes()) : segments
  }

  /// The photo is refused for this finding.
  static func refusal(_ code: ReasonCode, _ finding: String) -> Stop {
    .refused(Reason(code, input: .photo, finding: finding))
  }

  /// What an error of the JPEG decoder says of the photo.
  func blame(_ error: JPEGError) -> Stop {
    switch error {
    case .malformed(let message): Self.refusal(.corruptImage, "its JPEG data are damaged (\(message))")
    case .truncated: Self.refusal(.truncatedContainer, "the file ends before its picture does")
    case .unsupported(let message): Self.refusal(.unsupportedCodec, "JPEG of this kind is not taken (\(message))")
    case .tooManyPixels, .tooLarge: tooManyPixels
    case .tooManyScans: Self.refusal(.corruptImage, "it has more scans than any encoder writes")
    case .outOfMemory: .failed(MediaError(.outOfMemory, "libjpeg found no memory"))
    case .unreadable(let message): .failed(MediaError(.inputOutput, message))
    }
  }

  /// What the boxes of a HEIF or AVIF say of the photo.
  func blame(_ refusal: HEIFRefusal) -> Stop {
    switch refusal {
    case .truncated(let finding): Self.refusal(.truncatedContainer, finding)
    case .damaged(let finding): Self.refusal(.corruptImage, finding)
    case .unsupported(let finding): Self.refusal(.unsupportedCodec, finding)
    case .tooManyPixels: tooManyPixels
    }
  }

  /// What an error of another decoder says of the photo.
  func blame(_ error: ImageError) -> Stop {
    switch error {
    case .malformed(let message): Self.refusal(.corruptImage, "its data are damaged (\(message))")
    case .truncated: Self.refusal(.truncatedContainer, "the file ends before its picture does")
    case .unsupported(let message): Self.refusal(.unsupportedCodec, "it is of a kind that is not taken (\(message))")
    case .tooManyPixels: tooManyPixels
    case .outOfMemory: .failed(MediaError(.outOfMemory, "a decoder found no memory"))
    }
  }

  private var tooManyPixels: Stop {
    Self.refusal(
      .tooLarge,
      "its header promises more than \(limits.pixels) pixels, or \(limits.progressivePixels) of a progressive JPEG")
  }
}
