internal import CFFmpeg

/// Coded data with timestamps in the time base of their stream (libavcodec/packet.h).
package struct Packet: ~Copyable {
  let pointer: UnsafeMutablePointer<AVPacket>

  /// Creates an empty packet; demuxers and encoders fill it, and it can be reused.
  package init() throws(AVError) {
    guard let pointer = av_packet_alloc() else { throw .outOfMemory("av_packet_alloc") }
    self.pointer = pointer
  }

  /// Creates a packet with a copy of these data.
  package init(copying data: [UInt8]) throws(AVError) {
    var packet = av_packet_alloc()
    guard let allocated = packet else { throw .outOfMemory("av_packet_alloc") }
    let status = av_new_packet(allocated, Int32(clamping: data.count))
    if status < 0 { av_packet_free(&packet) }
    try AVError.check(status, "av_new_packet")
    UnsafeMutableRawBufferPointer(start: allocated.pointee.data, count: data.count).copyBytes(from: data)
    pointer = allocated
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&pointer)
  }

  /// The index of the stream.
  package var stream: Int { Int(pointer.pointee.stream_index) }
  /// The presentation timestamp; nil if unknown.
  package var pts: Int64? { Timestamp.known(pointer.pointee.pts) }
  /// The decoding timestamp; nil if unknown.
  package var dts: Int64? { Timestamp.known(pointer.pointee.dts) }
  /// The duration in ticks; 0 if unknown.
  package var duration: Int64 {
    get { pointer.pointee.duration }
    nonmutating set { pointer.pointee.duration = newValue }
  }

  /// The size in bytes.
  package var size: Int { Int(pointer.pointee.size) }
  /// Whether decoding can start at this packet.
  package var isKey: Bool {
    get { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    nonmutating set {
      if newValue { pointer.pointee.flags |= AV_PKT_FLAG_KEY } else { pointer.pointee.flags &= ~AV_PKT_FLAG_KEY }
    }
  }
  /// Whether the packet is decoded but not shown, because of an edit list.
  package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
  /// Whether the container marks the data as damaged.
  package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

  /// The offset of the data in the file; nil if unknown.
  package var byteOffset: Int64? { pointer.pointee.pos >= 0 ? pointer.pointee.pos : nil }

  /// Calls `use` with the data, which are valid during the call.
  package func withBytes<Failure: Error>(_ use: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
    try use(UnsafeRawBufferPointer(start: pointer.pointee.data, count: size))
  }

  /// Releases the data.
  package func unreference() { av_packet_unref(pointer) }

  /// Makes this packet another reference to the data of `other`.
  package func reference(_ other: borrowing Packet) throws(AVError) {
    av_packet_unref(pointer)
    try AVError.check(av_packet_ref(pointer, other.pointer), "av_packet_ref")
  }

  /// Copies the timestamps and flags of another packet and allocates new data.
  ///
  /// - Parameter fill: writes all `count` bytes of the data.
  package func rewrite(
    _ other: borrowing Packet, count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(AVError) {
    av_packet_unref(pointer)
    try AVError.check(av_new_packet(pointer, Int32(count)), "av_new_packet")
    pointer.pointee.pts = other.pointer.pointee.pts
    pointer.pointee.dts = other.pointer.pointee.dts
    pointer.pointee.duration = other.pointer.pointee.duration
    pointer.pointee.flags = other.pointer.pointee.flags
    fill(UnsafeMutableRawBufferPointer(start: pointer.pointee.data, count: count))
  }

  /// Sets both timestamps, for data that are decoded in the order in which they are presented.
  package func setTime(_ ticks: Int64) {
    pointer.pointee.pts = ticks
    pointer.pointee.dts = ticks
  }

  /// Sets the decoding timestamp.
  package func setDecodingTime(_ ticks: Int64) { pointer.pointee.dts = ticks }

  /// Adds `ticks` to both timestamps.
  package func shift(by ticks: Int64) {
    if let pts { pointer.pointee.pts = pts + ticks }
    if let dts { pointer.pointee.dts = dts + ticks }
  }
}

/// A packet has one owner and may move to another thread. Its data are reference-counted by FFmpeg and read-only.
extension Packet: @unchecked Sendable {}
