internal import CFFmpeg
import Glibc
import Platform

/// libav's writing end of an open file (libavformat/avio.h).
final class FileWriter {
  private let file: OpenFile
  private var position: Int64 = 0
  private var size: Int64 = 0
  /// The context to hand to libav; freed with this object.
  private(set) var context: UnsafeMutablePointer<AVIOContext>?

  private static let bufferBytes = 256 << 10

  init(_ file: OpenFile) throws(AVError) {
    self.file = file
    let buffer = av_malloc(Self.bufferBytes)
    context = avio_alloc_context(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferBytes), 1,
      Unmanaged.passUnretained(self).toOpaque(), nil, writeFile, seekWriter)
    guard context != nil else {
      av_free(buffer)
      throw .outOfMemory("avio_alloc_context")
    }
  }

  deinit {
    if let context { av_freep(&context.pointee.buffer) }
    avio_context_free(&context)
  }

  /// A reader of what was written so far, for a muxer that moves its data to make room in front.
  func reader() throws(AVError) -> FileReader { try FileReader(file) }

  fileprivate func write(_ buffer: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    do {
      try file.descriptor.write(UnsafeRawBufferPointer(start: buffer, count: count), at: position)
      position += Int64(count)
      size = max(size, position)
      return Int32(count)
    } catch {
      return cffmpeg_error(error.code)
    }
  }

  fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    FilePosition.seek(offset, whence, position: &position, size: size)
  }
}

private func writeFile(
  _ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32
) -> Int32 {
  guard let opaque, let buffer else { return cffmpeg_error(EINVAL) }
  return Unmanaged<FileWriter>.fromOpaque(opaque).takeUnretainedValue().write(buffer, Int(count))
}

private func seekWriter(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
  guard let opaque else { return Int64(cffmpeg_error(EINVAL)) }
  return Unmanaged<FileWriter>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}
