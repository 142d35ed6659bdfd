internal import Model

/// Judges a file by its bytes as they arrive, in pieces of any size: a clip by its boxes, a photo by its type and its size.
///
/// It refuses a file only if the whole file would be rejected, and passes over media data without reading them. It is a
/// value. For an upload that began in another process, a new one takes the bytes that have arrived; `nextOffset` says which of
/// them it needs.
package struct StreamValidator: Sendable {
  private let accepted: AcceptedMedia
  private let length: Int64?
  private var received: Int64 = 0
  private var start: [UInt8] = []
  /// The parser of a clip.
  private var walk: (any ArrivingClip)?
  /// The format of a photo.
  private var format: PhotoFormat?
  /// The maximum number of bytes of the file, by its kind.
  private var maxBytes: Int64 = .max
  private var tooManyBytes: Reason?
  /// Why the file is refused other than by its tracks.
  private var fault: StreamRefusal?

  /// - Parameters:
  ///   - accepted: what the file may be.
  ///   - length: the length of the file in bytes; nil if it is not known.
  package init(accepting accepted: AcceptedMedia, length: Int64?) {
    self.accepted = accepted
    self.length = length
  }

  /// Why the file is refused; nil as long as it may be accepted.
  package var refusal: StreamRefusal? { walk?.refusal ?? fault }

  /// The offset of the next byte that it reads; the bytes before may be skipped.
  package var nextOffset: Int64 {
    if fault != nil || format != nil { return .max }
    return max(received, walk?.nextOffset ?? received)
  }

  /// Takes the next bytes of the file. Once it is refused, it stays so, with the same refusal.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) -> StreamRefusal? {
    if fault == nil {
      do throws(StreamRefusal) { try take(bytes) } catch { fault = error }
    }
    received += Int64(bytes.count)
    return refusal
  }

  /// Passes over the bytes in front of an offset, up to `nextOffset`.
  package mutating func skip(to offset: Int64) {
    precondition(offset >= received && offset <= nextOffset, "the bytes are needed, or were passed already")
    received = offset
  }

  /// Ends the file; returns its media type. The tracks of a clip are no reason here: a probe of the whole file judges them, and
  /// may find others.
  package consuming func finish() throws(StreamRefusal) -> String {
    if let fault { throw fault }
    if walk == nil, format == nil { try recognize() }
    // The bytes behind the limit may have been passed over.
    if received > maxBytes, let tooManyBytes { throw StreamRefusal(tooManyBytes, at: maxBytes) }
    if let format { return format.mediaType }
    guard var walk else { preconditionFailure("a file is a clip or a photo, or it is refused") }
    return try walk.finish(at: received).mediaType
  }

  private mutating func take(_ bytes: UnsafeRawBufferPointer) throws(StreamRefusal) {
    guard walk == nil, format == nil else { return try walkOver(bytes, at: received) }
    let needed = Int(min(Int64(FileSignature.length), length ?? .max))
    start += bytes.prefix(max(0, needed - start.count))
    guard start.count == needed else { return }
    try recognize()
    // What follows the start in these bytes.
    let rest = needed - Int(received)
    if rest < bytes.count {
      try walkOver(UnsafeRawBufferPointer(rebasing: bytes[rest...]), at: received + Int64(rest))
    }
  }

  /// Finds the format by the start of the file, and passes the start to the parser.
  private mutating func recognize() throws(StreamRefusal) {
    try select()
    let start = start
    self.start = []
    let result = start.withUnsafeBytes { bytes in
      Result { () throws(StreamRefusal) in try walkOver(bytes, at: 0) }
    }
    try result.get()
  }

  private mutating func select() throws(StreamRefusal) {
    let format = PhotoFormat(start: start)
    if let limits = accepted.photo {
      if let format, limits.formats.contains(format) {
        try limit(to: limits.bytes, as: .photo)
        self.format = format
        return
      }
      if start.isEmpty, accepted.clip == nil {
        throw StreamRefusal(
          Reason(.emptyFile, input: .photo, finding: "the file is empty", remedy: .sendPhoto), at: 0)
      }
      if accepted.clip == nil || format != nil {
        throw StreamRefusal(Reason(unsupportedPhoto: FileSignature(start), accepted: limits.formats), at: 0)
      }
    }
    guard let limits = accepted.clip else { preconditionFailure("neither clips nor photos are accepted") }
    let unsupported = accepted.photo.map {
      Reason(unsupportedMedium: start, accepted: limits.containers, photos: $0.formats)
    }
    try limit(to: limits.bytes, as: accepted.clipName)
    if limits.containers.contains(.webM), WebMWalker.recognizes(start) {
      walk = WebMArrival(limits, as: accepted.clipName, length: length, unsupported: unsupported)
    } else {
      walk = ClipWalk(limits, as: accepted.clipName, length: length, unsupported: unsupported)
    }
  }

  /// Limits the bytes of the file, and refuses a length beyond the limit.
  private mutating func limit(to bytes: Int64, as input: InputName) throws(StreamRefusal) {
    maxBytes = bytes
    tooManyBytes = .tooManyBytes(nil, limit: bytes, input: input)
    if let length, length > bytes {
      throw StreamRefusal(.tooManyBytes(length, limit: bytes, input: input), at: bytes)
    }
  }

  private mutating func walkOver(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal) {
    let allowed = min(Int64(bytes.count), maxBytes - offset)
    if allowed > 0 { try walk?.take(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(allowed))), at: offset) }
    if allowed < bytes.count, let tooManyBytes { throw StreamRefusal(tooManyBytes, at: maxBytes) }
  }
}
