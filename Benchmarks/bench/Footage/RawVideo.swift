import Glibc
internal import Kernels
internal import Model
internal import Platform

/// A file of raw 8-bit 4:2:0 frames.
struct RawVideo: Sendable {
  let path: String
  let size: Size
  let framesPerSecond: Int

  /// The size of one frame in bytes.
  var frameBytes: Int { size.width * size.height * 3 / 2 }

  /// Returns the number of frames.
  func count() throws -> Int { Int(try Descriptor(reading: path).size()) / frameBytes }

  func remove() { unlink(path) }

  /// The arguments for an input of ffmpeg.
  var input: [String] {
    [
      "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "\(size.width)x\(size.height)",
      "-framerate", "\(framesPerSecond)", "-i", path,
    ]
  }
}

/// Reads raw frames in order.
final class RawVideoReader {
  private let video: RawVideo
  private let file: Descriptor
  private let buffer: AlignedBuffer
  private var offset: Int64 = 0

  init(_ video: RawVideo) throws {
    self.video = video
    file = try Descriptor(reading: video.path)
    buffer = AlignedBuffer(count: video.frameBytes)
  }

  /// Copies the next frame; false at the end.
  func next(into planes: MutableImagePlanes) throws -> Bool {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(start: buffer.base + filled, count: buffer.count - filled)
      let count = try file.read(into: rest, at: offset + Int64(filled))
      if count == 0 { return false }
      filled += count
    }
    offset += Int64(filled)
    var base = UnsafeRawPointer(buffer.base)
    for plane in [planes.y, planes.u, planes.v] {
      plane.copy(from: Plane(base: base, stride: plane.width, width: plane.width, height: plane.height))
      base += plane.width * plane.height
    }
    return true
  }
}

/// Writes raw frames one after another.
struct RawVideoWriter: ~Copyable {
  private let file: Descriptor

  init(_ video: RawVideo) throws { file = try Descriptor(writing: video.path, replacing: true) }

  func write(_ planes: ImagePlanes) throws {
    for plane in [planes.y, planes.u, planes.v] {
      for row in 0..<plane.height {
        try file.write(UnsafeRawBufferPointer(start: plane.base + row * plane.stride, count: plane.width))
      }
    }
  }
}
