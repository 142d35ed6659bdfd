internal import Blobs
internal import HTTPServer
internal import ISOBaseMedia
internal import Kit
internal import Model

/// A file of a request, which is staged, hashed and judged as it arrives.
struct ArrivingFile: ~Copyable {
  private var staged: StagedBlob
  private var validator: StreamValidator
  private let photo: Int?

  /// The rest of a request that is so short that it may come: all files of the request are judged then, and each reason named.
  static let shortRest: Int64 = 64 << 10

  /// - Parameter photo: the index of the photo in reasons.
  init(in space: MediaSpace, accepting accepted: AcceptedMedia, photo: Int? = nil) throws {
    staged = try space.stage()
    validator = StreamValidator(accepting: accepted, length: nil)
    self.photo = photo
  }

  var count: Int64 { staged.count }

  /// Adds bytes; throws a problem with a reason if they show that the file will be rejected.
  ///
  /// - Parameter rest: the number of bytes of the request that are still to come; nil: unknown.
  mutating func append(_ bytes: UnsafeRawBufferPointer, rest: Int64?) throws {
    let refusal = validator.append(bytes)
    if let refusal, rest ?? .max > Self.shortRest {
      var reason = refusal.reason
      reason.photo = photo
      throw MediaRefusal(reasons: [reason]).problem
    }
    try staged.append(bytes)
  }

  consuming func seal() throws(BlobError) -> JudgedFile {
    let type = Result { [validator] () throws(StreamRefusal) in try validator.finish() }
    return JudgedFile(content: try staged.seal(), type: type)
  }
}

/// A file of a submission that is whole, and what it is by its bytes. What they do not show is found by a worker, which decodes it.
struct JudgedFile: Sendable {
  let content: SealedBlob
  /// The media type, or why the file is refused.
  let type: Result<String, StreamRefusal>
}

extension JudgedFile {
  // More than the headers of the boxes in front of the media data.
  private static let pieceBytes: Int64 = 1 << 16

  /// Judges an upload, whose use was not known as it arrived. Only the bytes that are needed are read.
  init(_ upload: SealedBlob, accepting accepted: AcceptedMedia) throws(BlobError) {
    var validator = StreamValidator(accepting: accepted, length: upload.bytes)
    var offset: Int64 = 0
    while offset < upload.bytes {
      let bytes = try upload.bytes(count: Int(min(Self.pieceBytes, upload.bytes - offset)), at: offset)
      // A file that has lost its end is truncated.
      if bytes.isEmpty { break }
      _ = bytes.withUnsafeBytes { validator.append($0) }
      offset = min(validator.nextOffset, upload.bytes)
      validator.skip(to: offset)
    }
    self.init(content: upload, type: Result { [validator] () throws(StreamRefusal) in try validator.finish() })
  }
}

/// The media of a submission are rejected for what their containers show.
struct MediaRefusal: RequestRefusal, Sendable, Hashable {
  let reasons: [Reason]

  var problem: Problem {
    ProblemKind.mediaRejected.problem(reasons.map(\.detail).joined(separator: " "), reasons: reasons)
  }
}
