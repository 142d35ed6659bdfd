/// A JPEG (ITU-T T.81, annex B) as its segments, whose lengths are right when it is written.
package struct JPEGParts {
  package struct Segment {
    package var marker: UInt8
    package var content: [UInt8]
    /// The entropy-coded data after the header of a scan.
    package var data: [UInt8] = []
  }

  package var segments: [Segment] = []
  private var rest: [UInt8] = []

  /// Reads a file; nil if it is not a JPEG.
  package init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var offset = 2
    while offset + 4 <= bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] != 0xD9 {
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      guard length >= 2, offset + 2 + length <= bytes.count else { break }
      var segment = Segment(marker: bytes[offset + 1], content: Array(bytes[offset + 4..<offset + 2 + length]))
      offset += 2 + length
      if segment.marker == 0xDA {
        let end = Self.endOfScan(bytes, from: offset)
        segment.data = Array(bytes[offset..<end])
        offset = end
      }
      segments.append(segment)
    }
    rest = Array(bytes[offset...])
    if segments.isEmpty { return nil }
  }

  private static func endOfScan(_ bytes: [UInt8], from start: Int) -> Int {
    var offset = start
    while offset + 1 < bytes.count {
      if bytes[offset] == 0xFF, bytes[offset + 1] != 0, !(0xD0...0xD7).contains(bytes[offset + 1]) { return offset }
      offset += 1
    }
    return bytes.count
  }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = [0xFF, 0xD8]
    for segment in segments {
      let length = min(segment.content.count + 2, 0xFFFF)
      bytes += [0xFF, segment.marker, UInt8(length >> 8), UInt8(length & 255)] + segment.content.prefix(length - 2)
      bytes += segment.data
    }
    return bytes + rest
  }
}

extension JPEGParts {
  /// Changes one thing; takes segments and scans of `other`.
  mutating func change(_ choices: inout Choices, other: JPEGParts?) {
    guard let index = choices.index(in: segments) else { return }
    switch choices.below(12) {
    case 0...2: changeScan(&choices)
    case 3, 4: changeContent(of: index, &choices)
    case 5: changeFrameHeader(&choices)
    case 6: segments.remove(at: index)
    case 7: segments.insert(segments[index], at: choices.below(segments.count + 1))
    case 8: segments.swapAt(index, choices.below(segments.count))
    case 9: segments[index].marker = 0xC0 + UInt8(choices.below(0x3F))
    case 10:
      guard let other, let found = choices.element(of: other.segments) else { return }
      let same = segments.indices.filter { segments[$0].marker == found.marker }
      if let place = choices.element(of: same) { segments[place] = found } else { segments.insert(found, at: index) }
    default:
      guard let place = segments.firstIndex(where: { $0.marker == 0xE1 }) else {
        segments.insert(Segment(marker: 0xE1, content: Array("Exif\0\0MM\0*".utf8) + choices.bytes(40)), at: 0)
        return
      }
      TIFFChanges.apply(to: &segments[place].content, &choices)
    }
  }

  private mutating func changeContent(of index: Int, _ choices: inout Choices) {
    let count = segments[index].content.count
    if choices.chance(percent: 60) {
      choices.spoilNumber(
        in: &segments[index].content, at: choices.below(count), width: choices.chance(percent: 70) ? 1 : 2)
    } else if choices.chance(percent: 50) {
      choices.flipBits(in: &segments[index].content, 0..<count)
    } else {
      segments[index].content.removeLast(choices.below(count))
    }
  }

  /// Changes the precision, the size or a component (B.2.2).
  private mutating func changeFrameHeader(_ choices: inout Choices) {
    let places = segments.indices.filter { (0xC0...0xC2).contains(segments[$0].marker) }
    guard let place = choices.element(of: places) else { return }
    let offset = choices.weighted([(1, 0), (4, 1), (4, 3), (2, 5), (6, 6 + choices.below(9))])
    choices.spoilNumber(in: &segments[place].content, at: offset, width: offset == 1 || offset == 3 ? 2 : 1)
  }

  /// Changes entropy-coded data without new markers, or adds a restart marker, or cuts the data.
  private mutating func changeScan(_ choices: inout Choices) {
    guard let place = choices.element(of: segments.indices.filter { !segments[$0].data.isEmpty }) else { return }
    var data = segments[place].data
    switch choices.below(6) {
    case 0: data.removeLast(choices.below(data.count))
    case 1: data.insert(contentsOf: [0xFF, 0xD0 + UInt8(choices.below(8))], at: choices.below(data.count))
    case 2: data.removeSubrange(choices.below(data.count)..<data.count)
    default:
      for _ in 0...choices.below(4) {
        let offset = choices.below(data.count)
        guard data[offset] != 0xFF, offset == 0 || data[offset - 1] != 0xFF else { continue }
        data[offset] = min(0xFE, data[offset] ^ 1 << UInt8(choices.below(8)))
      }
    }
    segments[place].data = data
  }
}
