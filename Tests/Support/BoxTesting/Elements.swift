/// Returns an element of EBML (RFC 8794, 5).
package func element(_ id: UInt32, _ content: [UInt8]...) -> [UInt8] {
  let content = content.flatMap { $0 }
  return elementID(id) + elementSize(content.count) + content
}

/// Returns an element whose size is unknown.
package func openElement(_ id: UInt32, _ content: [UInt8]...) -> [UInt8] {
  elementID(id) + unknownSize + content.flatMap { $0 }
}

/// Returns an element with an unsigned number.
package func element(_ id: UInt32, number: Int) -> [UInt8] {
  let bytes = Array(bigEndian(UInt64(number)).drop { $0 == 0 })
  return element(id, bytes.isEmpty ? [0] : bytes)
}

/// Returns the header of a file of EBML with a document type.
package func documentHeader(_ type: String = "webm") -> [UInt8] {
  element(
    0x1A45_DFA3, element(0x4286, number: 1), element(0x42F7, number: 1), element(0x42F2, number: 4),
    element(0x42F3, number: 8), element(0x4282, Array(type.utf8)), element(0x4287, number: 4),
    element(0x4285, number: 2))
}

/// Returns a `TrackEntry` of a video.
package func videoEntry(
  number: Int = 1, codec: String = "V_VP9", width: Int = 640, height: Int = 480, extra: [UInt8] = []
) -> [UInt8] {
  element(
    0xAE, element(0xD7, number: number), element(0x73C5, number: number), element(0x83, number: 1),
    element(0x86, Array(codec.utf8)), element(0xE0, element(0xB0, number: width), element(0xBA, number: height)), extra)
}

/// Returns a `TrackEntry` of sound.
package func soundEntry(number: Int = 2, codec: String = "A_OPUS") -> [UInt8] {
  element(
    0xAE, element(0xD7, number: number), element(0x73C5, number: number), element(0x83, number: 2),
    element(0x86, Array(codec.utf8)))
}

/// Returns a `SimpleBlock` with a time in front of its data.
package func simpleBlock(track: UInt8 = 1, at time: Int16 = 0, flags: UInt8 = 0x80, _ data: [UInt8] = [1, 2, 3])
  -> [UInt8]
{
  element(0xA3, blockHeader(track: track, at: time, flags: flags), data)
}

/// Returns the number of a track, a time and flags, in front of the data of a block.
package func blockHeader(track: UInt8 = 1, at time: Int16 = 0, flags: UInt8 = 0x80) -> [UInt8] {
  [0x80 | track] + bigEndian(time) + [flags]
}

/// Returns a `Cluster` with blocks.
package func cluster(at time: Int = 0, _ blocks: [UInt8]..., isOpen: Bool = false) -> [UInt8] {
  let content = element(0xE7, number: time) + blocks.flatMap { $0 }
  return isOpen ? openElement(0x1F43_B675, content) : element(0x1F43_B675, content)
}

/// Returns a WebM with tracks and what follows them in its segment.
package func webM(
  _ tracks: [UInt8]..., info: [UInt8] = [], clusters: [UInt8] = cluster(simpleBlock()), isOpen: Bool = false
) -> [UInt8] {
  let content = element(0x1549_A966, info) + element(0x1654_AE6B, tracks.flatMap { $0 }) + clusters
  return documentHeader() + (isOpen ? openElement(0x1853_8067, content) : element(0x1853_8067, content))
}
