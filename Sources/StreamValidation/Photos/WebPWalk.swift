internal import Model

/// Reads the header of a WebP (RFC 9649, 2): its size, and whether its image ends inside of the file.
struct WebPWalk: FormatWalk {
  // The header of the file, the header of the first chunk, and what the chunk says about the size.
  private static let headerBytes = 30

  private let limits: PhotoLimits
  private let length: Int64?
  private var requested = RequestedBytes()
  private var isJudged = false

  init(_ limits: PhotoLimits, length: Int64?) {
    self.limits = limits
    self.length = length
  }

  var nextOffset: Int64 { isJudged ? .max : 0 }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal) {
    guard !isJudged, let start = requested.gather(Self.headerBytes, at: 0, from: bytes, at: offset) else { return }
    isJudged = true
    try judge(Array(start))
  }

  mutating func finish(at size: Int64) {}

  private func judge(_ start: [UInt8]) throws(StreamRefusal) {
    let type = String(decoding: start[12..<16], as: UTF8.self)
    func number(_ range: Range<Int>) -> Int { start[range].reversed().reduce(0) { $0 << 8 | Int($1) } }
    let pixels: Int
    switch type {
    case "VP8X": pixels = (number(24..<27) + 1) * (number(27..<30) + 1)
    // Without a start code, or a signature, the file is damaged, which the decoder says.
    case "VP8 " where start[23..<26].elementsEqual([0x9D, 0x01, 0x2A]):
      pixels = (number(26..<28) & 0x3FFF) * (number(28..<30) & 0x3FFF)
    case "VP8L" where start[20] == 0x2F:
      let bits = number(21..<25)
      pixels = ((bits & 0x3FFF) + 1) * ((bits >> 14 & 0x3FFF) + 1)
    default: return
    }
    if pixels > limits.pixels { throw StreamRefusal(.tooManyPixels(limits), at: 12) }
    guard type != "VP8X", let length, 20 + Int64(number(16..<20)) > length else { return }
    throw StreamRefusal(.truncatedPhoto, at: 12)
  }
}
