internal import CFFmpeg

/// A piece of coded data with its times, in the time base of its stream (libavcodec/packet.h).
package struct Packet: ~Copyable {
  let pointer: UnsafeMutablePointer<AVPacket>

  /// An empty packet, to be filled by a demuxer or an encoder and used again and again.
  package init() throws(AVError) {
    guard let pointer = av_packet_alloc() else { throw .outOfMemory("av_packet_alloc") }
    self.pointer = pointer
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&pointer)
  }

  /// The index of its stream.
  package var stream: Int { Int(pointer.pointee.stream_index) }
  /// When it is presented; nil if unknown.
  package var pts: Int64? { Timestamp.known(pointer.pointee.pts) }
  /// When it is decoded; nil if unknown.
  package var dts: Int64? { Timestamp.known(pointer.pointee.dts) }
  /// How long it is presented; 0 if unknown.
  package var duration: Int64 {
    get { pointer.pointee.duration }
    nonmutating set { pointer.pointee.duration = newValue }
  }

  /// In bytes.
  package var size: Int { Int(pointer.pointee.size) }
  /// Whether decoding can start here.
  package var isKey: Bool {
    get { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    nonmutating set {
      if newValue { pointer.pointee.flags |= AV_PKT_FLAG_KEY } else { pointer.pointee.flags &= ~AV_PKT_FLAG_KEY }
    }
  }
  /// Whether an edit list says that it is decoded but not shown.
  package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
  /// Whether the container says that its data are damaged.
  package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

  /// Where its data begin in the file; nil if unknown.
  package var byteOffset: Int64? { pointer.pointee.pos >= 0 ? pointer.pointee.pos : nil }

  /// Its data, valid while `use` runs.
  package func withBytes<Failure: Error>(_ use: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
    try use(UnsafeRawBufferPointer(start: pointer.pointee.data, count: size))
  }

  /// Lets go of the data.
  package func unreference() { av_packet_unref(pointer) }

  /// Becomes another reference to the same data.
  package func reference(_ other: borrowing Packet) throws(AVError) {
    av_packet_unref(pointer)
    try AVError.check(av_packet_ref(pointer, other.pointer), "av_packet_ref")
  }

  /// Takes over the times and flags of another packet, and data that `fill` writes: all of `count` bytes.
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

  /// Moves the packet in time by `ticks`.
  package func shift(by ticks: Int64) {
    if let pts { pointer.pointee.pts = pts + ticks }
    if let dts { pointer.pointee.dts = dts + ticks }
  }
}

/// A packet has one owner, who may hand it to another thread; its data are shared and counted by libav, and only read.
extension Packet: @unchecked Sendable {}
