internal import CFFmpeg
import Platform

/// libav's reading end of an open file: no name, no protocol, no second file (libavformat/avio.h).
final class FileReader {
  private let file: OpenFile
  private let size: Int64
  private var position: Int64 = 0
  /// Whether the system refused to read: the file may be sound.
  private(set) var failed = false
  /// The context to hand to libav; freed with this object.
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
    // libav may have replaced the buffer by a larger one.
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
