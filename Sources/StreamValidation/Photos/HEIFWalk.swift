internal import ISOBaseMedia
internal import Model

/// Walks the outermost boxes of a HEIF or AVIF, and judges its image by the `meta` box once it has arrived.
struct HEIFWalk: FormatWalk {
  private let limits: PhotoLimits
  private let length: Int64?
  private var walk: HEIFBoxWalk
  private var requested = RequestedBytes()

  init(_ limits: PhotoLimits, length: Int64?) {
    self.limits = limits
    self.length = length
    walk = HEIFBoxWalk(size: length, pixels: limits.pixels)
  }

  var nextOffset: Int64 { walk.request?.offset ?? .max }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal) {
    while let request = walk.request,
      let found = requested.gather(request.count, at: request.offset, from: bytes, at: offset)
    {
      do throws(HEIFRefusal) { try walk.take(found) } catch { throw refusal(error) }
    }
  }

  mutating func finish(at size: Int64) throws(StreamRefusal) {
    do throws(HEIFRefusal) {
      try walk.end(at: size)
      while let request = walk.request { try walk.take(requested.rest(request.count, at: request.offset)) }
    } catch {
      throw refusal(error)
    }
  }

  private func refusal(_ refusal: HEIFRefusal) -> StreamRefusal {
    StreamRefusal(Reason(refusal, limits: limits), at: walk.position)
  }
}
