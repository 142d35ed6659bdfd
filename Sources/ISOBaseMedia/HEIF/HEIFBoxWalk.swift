/// One pass over the outermost boxes of a HEIF or AVIF that still arrives. It asks for the headers and the `meta` box, in the
/// order of the file, and finds what `HEIFImage` refuses in the whole file.
package struct HEIFBoxWalk: Sendable {
  // The `meta` box of a photo of 200 megapixels has 60 KiB; a longer one is judged with the whole file.
  private static let maxDescriptionBytes: Int64 = 512 << 10

  /// Nil at the end of the pass.
  package private(set) var request: ContainerWalk.Request?
  /// The start of the box that is visited.
  package private(set) var position: Int64 = 0

  private var size: Int64?
  private let pixels: Int
  /// The box that was visited last, without its content.
  private var last: BoxHeader?
  private var isInDescription = false
  private var hasDescription = false
  /// The box that describes another kind of image.
  private var other: BoxType?
  private var boxes = 0

  /// - Parameters:
  ///   - size: the length of the file in bytes; nil if it is not known yet.
  ///   - pixels: the maximum number of pixels of the image.
  package init(size: Int64?, pixels: Int) {
    self.size = size
    self.pixels = pixels
    ask(at: 0, count: 16)
  }

  /// Takes the requested bytes; fewer only at the end of the file.
  package mutating func take(_ bytes: ArraySlice<UInt8>) throws(HEIFRefusal) {
    if isInDescription, let last {
      isInDescription = false
      hasDescription = true
      try HEIFImage.check(description: Box(type: last.type, content: bytes), fileBytes: size, pixels: pixels)
      return try visitNext(at: last.end)
    }
    // As in a list of boxes in memory, one without a valid header ends the list.
    let limit = size ?? .max
    guard bytes.count >= 8, boxes < Box.maxChildren, let offset = request?.offset,
      let box = try? BoxHeader(bytes, at: offset, limit: limit)
    else { return try end() }
    // A size beyond those of files is not valid either.
    guard size == nil || box.end < .max else { return try end() }
    boxes += 1
    last = box
    position = offset
    if box.end > limit { return try end(inside: box) }
    switch box.type {
    case "meta" where !hasDescription && box.end < .max:
      guard box.end - box.content > Self.maxDescriptionBytes else {
        isInDescription = true
        return ask(at: box.content, count: Int(box.end - box.content))
      }
      hasDescription = true
    case "meta": hasDescription = true
    case "moov", "mini": other = other ?? box.type
    default: break
    }
    try visitNext(at: box.end)
  }

  /// Sets the length of a file, once all of it has arrived, if it was not known before.
  package mutating func end(at size: Int64) throws(HEIFRefusal) {
    guard self.size == nil else { return }
    self.size = size
    if let last, last.end > size, last.end < .max { return try end(inside: last) }
    if let request { ask(at: min(request.offset, size), count: request.count) }
  }

  private mutating func ask(at offset: Int64, count: Int) {
    request = ContainerWalk.Request(
      offset: offset, count: size.map { Int(min(Int64(count), max(0, $0 - offset))) } ?? count)
  }

  private mutating func visitNext(at offset: Int64) throws(HEIFRefusal) {
    if let size, offset >= size { return try end() }
    ask(at: offset, count: 16)
  }

  /// Ends with a box that is longer than the file. Data of a vendor after the image are not needed.
  private mutating func end(inside box: BoxHeader) throws(HEIFRefusal) {
    if box.type == "meta" { hasDescription = true }
    if hasDescription, box.type == "meta" || box.type == "mdat" { throw HEIFImage.isCut(inside: box.type) }
    try end()
  }

  private mutating func end() throws(HEIFRefusal) {
    request = nil
    if !hasDescription { throw HEIFImage.hasNoDescription(other) }
  }
}
