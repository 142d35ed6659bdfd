import Glibc
internal import Model

/// Walks the markers of a JPEG (ITU-T T.81, annex B) as libjpeg does, whose errors are reasons.
struct JPEGWalk: FormatWalk {
  /// What the next byte is.
  private enum State {
    /// In front of a marker: in the data of a scan, or at bytes that some cameras write between segments.
    case outside
    /// The code of a marker, whose byte 0xFF was read.
    case code
    /// The length of a segment, high byte first.
    case length(marker: UInt8, high: UInt8?)
    /// The content of a segment of which so many bytes follow.
    case segment(marker: UInt8, left: Int)
    /// Behind the end of the image.
    case end
  }

  private var state = State.outside
  private var header: JPEGFrame
  /// The offset of the next byte that is read.
  private(set) var nextOffset: Int64 = 2
  private var markerOffset: Int64 = 0
  /// The content of a segment that is judged.
  private var content: [UInt8] = []

  init(_ limits: PhotoLimits) { header = JPEGFrame(limits) }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StreamRefusal) {
    var index = Int(min(nextOffset - offset, Int64(bytes.count)))
    // What is passed over may extend beyond these bytes.
    defer { if index >= bytes.count { nextOffset = max(nextOffset, offset + Int64(bytes.count)) } }
    while index < bytes.count {
      nextOffset = offset + Int64(index)
      switch state {
      case .outside: index = passToMarker(bytes, from: index, at: offset)
      case .code:
        try take(code: bytes[index])
        index += 1
      case .length(let marker, nil):
        state = .length(marker: marker, high: bytes[index])
        index += 1
      case .length(let marker, let high?):
        let length = Int(high) << 8 | Int(bytes[index])
        try begin(marker, length: length)
        index += 1
      case .segment(let marker, let left):
        let count = min(left, bytes.count - index)
        if header.isJudged(marker) { content += bytes[index..<index + count] }
        index += count
        state = left == count ? .outside : .segment(marker: marker, left: left - count)
        if left == count { try end(marker) }
      case .end: index = bytes.count
      }
      nextOffset = offset + Int64(index)
    }
    switch state {
    case .segment(let marker, let left) where !header.isJudged(marker):
      nextOffset += Int64(left)
      state = .outside
    case .end: nextOffset = .max
    default: break
    }
  }

  mutating func finish(at size: Int64) throws(StreamRefusal) {
    // Some phones write no end of the image: whether all of its blocks are there, only a decoder sees.
    if header.isInScan { return }
    if case .end = state { return }
    throw StreamRefusal(.truncatedPhoto, at: size)
  }

  /// Returns the index behind the next byte 0xFF, or that of the end.
  private mutating func passToMarker(_ bytes: UnsafeRawBufferPointer, from index: Int, at offset: Int64) -> Int {
    guard let start = bytes.baseAddress, let found = memchr(start + index, 0xFF, bytes.count - index) else {
      return bytes.count
    }
    let end = UnsafeRawPointer(found) - start
    markerOffset = offset + Int64(end)
    state = .code
    return end + 1
  }

  private mutating func take(code: UInt8) throws(StreamRefusal) {
    switch code {
    // A fill byte.
    case 0xFF: markerOffset = nextOffset
    // In a scan a byte 0xFF of the data.
    case 0x00: state = .outside
    case 0xD9:
      try refuse(header.reason(marker: code))
      state = .end
    default:
      try refuse(header.reason(marker: code))
      state = JPEGFrame.hasSegment(code) ? .length(marker: code, high: nil) : .outside
    }
  }

  private mutating func begin(_ marker: UInt8, length: Int) throws(StreamRefusal) {
    try refuse(header.reason(marker: marker, length: length))
    content = []
    let left = max(0, length - 2)
    state = left == 0 ? .outside : .segment(marker: marker, left: left)
  }

  private mutating func end(_ marker: UInt8) throws(StreamRefusal) {
    guard header.isJudged(marker) else { return }
    try refuse(header.take(marker, content))
    content = []
  }

  private func refuse(_ reason: Reason?) throws(StreamRefusal) {
    if let reason { throw StreamRefusal(reason, at: markerOffset) }
  }
}
