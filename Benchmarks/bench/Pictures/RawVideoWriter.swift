internal import Kernels
internal import Platform

/// Writes raw pictures one after another.
struct RawVideoWriter: ~Copyable {
  private let file: Descriptor

  init(_ video: RawVideo) throws { file = try Descriptor(writing: video.path, replacing: true) }

  func write(_ picture: ImagePlanes) throws {
    for plane in [picture.y, picture.u, picture.v] {
      for row in 0..<plane.height {
        try file.write(UnsafeRawBufferPointer(start: plane.base + row * plane.stride, count: plane.width))
      }
    }
  }
}
