internal import ISOBaseMedia
internal import Model

/// Judges a file by its bytes as they arrive, in pieces of any size.
///
/// It refuses a file only if the whole file would be rejected, and passes over media data without reading them. It is a
/// value. For an upload that began in another process, a new one takes the bytes that have arrived; `nextOffset` says which of
/// them it needs.
package struct StreamValidator: Sendable {
  private let accepted: AcceptedMedia
  private let length: Int64?
  private var received: Int64 = 0
  private var start: [UInt8] = []
  private var walk: (any FormatWalk)?
  /// The maximum number of bytes of the file, by its kind.
  private var maxBytes: Int64 = .max
  private var tooManyBytes: Reason?
  /// Why the file is refused; nil as long as it may be accepted.
  package private(set) var refusal: StreamRefusal?

  /// - Parameters:
  ///   - accepted: what the file may be.
  ///   - length: the length of the file in bytes; nil if it is not known.
  package init(accepting accepted: AcceptedMedia, length: Int64?) {
    self.accepted = accepted
    self.length = length
  }

  /// The offset of the next byte that it reads; the bytes before may be skipped.
  package var nextOffset: Int64 {
    if refusal != nil { return .max }
    return max(received, walk?.nextOffset ?? received)
  }

  /// Takes the next bytes of the file. Once it is refused, it stays so, with the same refusal.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) -> StreamRefusal? {
    guard refusal == nil else { return refusal }
    do throws(StreamRefusal) { try take(bytes) } catch { refusal = error }
    received += Int64(bytes.count)
    return refusal
  }

  /// Passes over the bytes in front of an offset, up to `nextOffset`.
  package mutating func skip(to offset: Int64) {
    precondition(offset >= received && offset <= nextOffset, "the bytes are needed, or were passed already")
    received = offset
  }

  /// Ends the file.
  package mutating func finish() -> StreamRefusal? {
    guard refusal == nil else { return refusal }
    do throws(StreamRefusal) {
      if walk == nil { try recognize() }
      // The bytes behind the limit may have been passed over.
      if received > maxBytes, let tooManyBytes { throw StreamRefusal(tooManyBytes, at: maxBytes) }
      try walk?.finish(at: received)
    } catch {
      refusal = error
    }
    return refusal
  }

  private mutating func take(_ bytes: UnsafeRawBufferPointer) throws(StreamRefusal) {
    guard walk == nil else { return try walkOver(bytes, at: received) }
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

  /// Selects the parser by the start of the file, and passes it the start.
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
        walk = photoWalk(format, limits)
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
    let walk = ClipWalk(
      limits, as: accepted.clipName, length: length,
      unsupported: accepted.photo == nil ? nil : Reason(unsupportedMedium: start))
    try limit(to: limits.bytes, as: accepted.clipName)
    self.walk = walk
  }

  private func photoWalk(_ format: PhotoFormat, _ limits: PhotoLimits) -> any FormatWalk {
    switch format {
    case .jpeg: JPEGWalk(limits)
    case .png: PNGWalk(limits, length: length)
    case .webp: WebPWalk(limits, length: length)
    case .heif, .avif: HEIFWalk(limits, length: length)
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
