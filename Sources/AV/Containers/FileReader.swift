internal import CFFmpeg
import Glibc
import Platform

/// A read-only I/O context on an open file (libavformat/avio.h).
final class FileReader {
  private let file: OpenFile
  private let size: Int64
  private var position: Int64 = 0
  /// Whether a read failed; the file itself may be valid.
  private(set) var failed = false
  /// The context for FFmpeg; it is freed with this object.
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  private static let bufferBytes = 64 << 10

  init(_ file: OpenFile) throws(AVError) {
    self.file = file
    do {
      size = try file.descriptor.size()
    } catch {
      throw AVError(cffmpeg_error(error.code), "fstat")
    }
    let buffer = av_malloc(Self.bufferBytes)
    context = avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferBytes), 0,
      Unmanaged.passUnretained(self).toOpaque(), readFile, nil, seekReader)
    guard context != nil else {
      av_free(buffer)
      throw .outOfMemory("avio_alloc_context")
    }
  }

  deinit {
    // FFmpeg may have replaced the buffer by a larger one.
    if let context { av_freep(&context.pointee.buffer) }
    avio_context_free(&context)
  }

  fileprivate func read(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int32 {
    do {
      let count = try file.descriptor.read(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: count), at: position)
      position += Int64(count)
      return count == 0 ? cffmpeg_error_end() : Int32(count)
    } catch {
      failed = true
      return cffmpeg_error(error.code)
    }
  }

  fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    FilePosition.seek(offset, whence, position: &position, size: size)
  }
}

private func readFile(
  _ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32
) -> Int32 {
  guard let opaque, let buffer else { return cffmpeg_error(EINVAL) }
  return Unmanaged<FileReader>.fromOpaque(opaque).takeUnretainedValue().read(buffer, Int(count))
}

private func seekReader(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
  guard let opaque else { return Int64(cffmpeg_error(EINVAL)) }
  return Unmanaged<FileReader>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}

/// The seek callback of an I/O context. With `AVSEEK_SIZE` it returns the file size.
enum FilePosition {
  static func seek(_ offset: Int64, _ whence: Int32, position: inout Int64, size: Int64) -> Int64 {
    // AVSEEK_FORCE permits an expensive seek; here every seek is cheap.
    let base: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return size
    case SEEK_SET: base = 0
    case SEEK_CUR: base = position
    case SEEK_END: base = size
    default: return Int64(cffmpeg_error(EINVAL))
    }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return Int64(cffmpeg_error(EINVAL)) }
    position = target
    return target
  }
}
