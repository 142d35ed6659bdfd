import Glibc
internal import Model
internal import Platform

/// A file of 8-bit 4:2:0 pictures and nothing else.
struct RawVideo: Sendable {
  let path: String
  let size: Size
  let framesPerSecond: Int

  /// Of one picture.
  var pictureBytes: Int { size.width * size.height * 3 / 2 }

  /// How many pictures there are.
  func count() throws -> Int { Int(try Descriptor(reading: path).size()) / pictureBytes }

  /// Removes the file, which is large.
  func remove() { unlink(path) }

  /// As an input of ffmpeg.
  var input: [String] {
    [
      "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "\(size.width)x\(size.height)",
      "-framerate", "\(framesPerSecond)", "-i", path,
    ]
  }
}
