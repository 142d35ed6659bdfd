internal import Model

/// Walks the chunks of a PNG (PNG 3, 5.3) as libpng does, whose errors are reasons.
struct PNGWalk: FormatWalk {
  // As in png.c: the longest edge in pixels.
  private static let maxEdge = 65_500
  private static let headerBytes = 13

  private let limits: PhotoLimits
  private let length: Int64?
  private var requested = RequestedBytes()
  /// The start of the chunk that is visited.
  private var offset: Int64 = 8
  private var isInHeader = false
  private var hasHeader = false
  private var hasImageData = false
  private var isComplete = false

  init(_ limits: PhotoLimits, length: Int64?) {
    self.limits = limits
    self.length = length
  }

  var nextOffset: Int64 { isComplete ? .max : offset }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at start: Int64) throws(StreamRefusal) {
    while !isComplete {
      // A length and a type; of the header also its content and its CRC.
      let count = isInHeader ? 8 + Self.headerBytes + 4 : 8
      guard let chunk = requested.gather(count, at: offset, from: bytes, at: start) else { return }
      try isInHeader ? takeHeader(Array(chunk)) : visit(Array(chunk))
    }
  }

  mutating func finish(at size: Int64) throws(StreamRefusal) {
    if !isComplete || offset > size { throw StreamRefusal(.truncatedPhoto, at: size) }
  }

  private mutating func visit(_ header: [UInt8]) throws(StreamRefusal) {
    let size = header[..<4].number
    let type = String(decoding: header[4...], as: UTF8.self)
    guard size <= Int32.max else { throw damaged("a chunk of \(size) bytes") }
    guard header[4...].allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) && $0 < 0x80 }) else {
      throw damaged("a chunk without a type")
    }
    let end = offset + 12 + Int64(size)
    switch type {
    case "IHDR":
      guard !hasHeader, size == Self.headerBytes else { throw damaged("an invalid header") }
      (hasHeader, isInHeader) = (true, true)
      return
    case "IDAT":
      guard hasHeader else { throw damaged("image data without a header") }
      hasImageData = true
    case "IEND":
      guard hasImageData else { throw damaged("no image data") }
      isComplete = true
    case "PLTE": break
    // The case of its first letter says that a decoder must know the chunk.
    default: if header[4] & 0x20 == 0 { throw unsupported(type) }
    }
    if let length, end > length { throw StreamRefusal(.truncatedPhoto, at: offset) }
    offset = end
  }

  private mutating func takeHeader(_ chunk: [UInt8]) throws(StreamRefusal) {
    isInHeader = false
    guard Self.cyclicRedundancyCheck(of: chunk[4..<21]) == chunk[21...].number else { throw damaged("a wrong CRC") }
    let (width, height) = (chunk[8..<12].number, chunk[12..<16].number)
    let (bits, color) = (chunk[16], chunk[17])
    let depths: [UInt8] =
      switch color {
      case 0: [1, 2, 4, 8, 16]
      case 3: [1, 2, 4, 8]
      case 2, 4, 6: [8, 16]
      default: []
      }
    guard (1...Int(Int32.max)).contains(width), (1...Int(Int32.max)).contains(height), depths.contains(bits),
      chunk[18] == 0, chunk[19] == 0, chunk[20] <= 1
    else { throw damaged("an invalid header") }
    if max(width, height) > Self.maxEdge || width * height > limits.pixels {
      throw StreamRefusal(.tooManyPixels(limits), at: offset)
    }
    offset += Int64(chunk.count)
  }

  private func damaged(_ finding: String) -> StreamRefusal {
    StreamRefusal(Reason(.corruptImage, input: .photo, finding: "its data are damaged (\(finding))"), at: offset)
  }

  // libpng takes a chunk that it does not know and must know for damage.
  private func unsupported(_ type: String) -> StreamRefusal { damaged("an unknown critical chunk '\(type)'") }

  /// The CRC of the type and the content of a chunk (PNG 3, 5.5).
  private static func cyclicRedundancyCheck(of bytes: ArraySlice<UInt8>) -> Int {
    let rest = bytes.reduce(UInt32.max) { rest, byte in
      (0..<8).reduce(rest ^ UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }
    return Int(~rest)
  }
}

extension ArraySlice<UInt8> {
  /// The bytes as a big-endian number.
  var number: Int { reduce(0) { $0 << 8 | Int($1) } }
}
