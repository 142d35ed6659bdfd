internal import CFFmpeg
import Glibc
import Platform

/// A write-only I/O context on an open file (libavformat/avio.h).
final class FileWriter {
  private let file: OpenFile
  private var position: Int64 = 0
  private var size: Int64 = 0
  /// The context for FFmpeg; it is freed with this object.
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

  /// Returns a reader of the data written so far: a muxer reads them when it moves them to insert the index in front.
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

/// The `io_open` callback of a muxer: lets the muxer reopen its own file for reading, and refuses to open any other.
final class Reopener {
  private let writer: FileWriter
  private var readers: [UnsafeMutablePointer<AVIOContext>: FileReader] = [:]

  init(_ writer: FileWriter) { self.writer = writer }

  fileprivate func open(flags: Int32) throws(AVError) -> UnsafeMutablePointer<AVIOContext>? {
    guard flags & AVIO_FLAG_WRITE == 0 else { throw AVError(cffmpeg_error(EPERM), "io_open") }
    let reader = try writer.reader()
    guard let context = reader.context else { return nil }
    readers[context] = reader
    return context
  }

  fileprivate func close(_ context: UnsafeMutablePointer<AVIOContext>) { readers[context] = nil }

  static func of(_ context: UnsafeMutablePointer<AVFormatContext>?) -> Reopener? {
    guard let opaque = context?.pointee.opaque else { return nil }
    return Unmanaged<Reopener>.fromOpaque(opaque).takeUnretainedValue()
  }
}

func reopenForReading(
  _ context: UnsafeMutablePointer<AVFormatContext>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ url: UnsafePointer<CChar>?, _ flags: Int32, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let reopener = Reopener.of(context), let result else { return cffmpeg_error(EINVAL) }
  do {
    result.pointee = try reopener.open(flags: flags)
    return 0
  } catch {
    return error.code
  }
}

func closeReopened(
  _ context: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<AVIOContext>?
) -> Int32 {
  if let io { Reopener.of(context)?.close(io) }
  return 0
}
