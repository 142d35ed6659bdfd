internal import Blobs
internal import ISOBaseMedia
internal import Model

/// What a photo's first bytes say at the end of its upload: cheap to ask, and before anything is stored.
enum PhotoCheck {
  /// It may be a photo, of this media type.
  case valid(type: String)
  case refused(Reason)

  init(_ blob: SealedBlob, limits: PhotoLimits) throws(BlobError) {
    let start = blob.bytes == 0 ? [] : try blob.bytes(count: Int(min(blob.bytes, Int64(FileSignature.length))), at: 0)
    guard !start.isEmpty else {
      self = .refused(
        Reason(.emptyFile, input: .photo, detail: "The file has no bytes. Send the photo itself."))
      return
    }
    guard let format = PhotoFormat(start: start), limits.formats.contains(format) else {
      self = .refused(Reason(unsupportedPhoto: FileSignature(start), taken: limits.formats))
      return
    }
    self = .valid(type: "image/\(format == .heif ? "heic" : format.rawValue)")
  }
}
