internal import Kernels
internal import Platform

/// Reads raw pictures in order.
final class RawVideoReader {
  private let video: RawVideo
  private let file: Descriptor
  private let buffer: AlignedBuffer
  private var offset: Int64 = 0

  init(_ video: RawVideo) throws {
    self.video = video
    file = try Descriptor(reading: video.path)
    buffer = AlignedBuffer(count: video.pictureBytes)
  }

  /// Copies the next picture; false after the last.
  func next(into picture: MutableImagePlanes) throws -> Bool {
    var filled = 0
    while filled < buffer.count {
      let room = UnsafeMutableRawBufferPointer(start: buffer.base + filled, count: buffer.count - filled)
      let count = try file.read(into: room, at: offset + Int64(filled))
      if count == 0 { return false }
      filled += count
    }
    offset += Int64(filled)
    var base = UnsafeRawPointer(buffer.base)
    for plane in [picture.y, picture.u, picture.v] {
      plane.copy(from: Plane(base: base, stride: plane.width, width: plane.width, height: plane.height))
      base += plane.width * plane.height
    }
    return true
  }
}
