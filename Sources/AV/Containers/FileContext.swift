internal import CFFmpeg
import Glibc
import Platform

/// An I/O context on an open file (libavformat/avio.h), for reading or for writing.
final class FileContext {
  private let file: OpenFile
  private var position: Int64 = 0
  private var size: Int64
  /// Whether a read failed; the file itself may be valid.
  private(set) var readFailed = false
  /// The context for FFmpeg; it is freed with this object.
  let context: UnsafeMutablePointer<AVIOContext>

  init(_ file: OpenFile, writes: Bool = false) throws(AVError) {
    self.file = file
    do {
      size = try file.descriptor.size()
    } catch {
      throw AVError(cffmpeg_error(error.code), "fstat")
    }
    let bytes = (writes ? 256 : 64) << 10
    let buffer = av_malloc(bytes)
    // FFmpeg calls back only once it has the context, with this object.
    let context = cffmpeg_alloc_io(
      buffer?.assumingMemoryBound(to: UInt8.self), Int32(bytes), writes ? 1 : 0, nil, readFile, writeFile, seekFile)
    guard let context else {
      av_free(buffer)
      throw .outOfMemory("avio_alloc_context")
    }
    self.context = context
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // FFmpeg may have replaced the buffer by a larger one.
    av_freep(&context.pointee.buffer)
    var freed: UnsafeMutablePointer<AVIOContext>? = context
    avio_context_free(&freed)
  }

  fileprivate static func of(_ opaque: UnsafeMutableRawPointer?) -> FileContext? {
    opaque.map { Unmanaged<FileContext>.fromOpaque($0).takeUnretainedValue() }
  }

  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
    do {
      let count = try file.descriptor.read(into: buffer, at: position)
      position += Int64(count)
      return count == 0 ? cffmpeg_error_end() : Int32(count)
    } catch {
      readFailed = true
      return cffmpeg_error(error.code)
    }
  }

  fileprivate func write(_ buffer: UnsafeRawBufferPointer) -> Int32 {
    do {
      try file.descriptor.write(buffer, at: position)
      position += Int64(buffer.count)
      size = max(size, position)
      return Int32(buffer.count)
    } catch {
      return cffmpeg_error(error.code)
    }
  }

  /// Moves the position. With `AVSEEK_SIZE` it returns the file size.
  fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
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

private func readFile(
  _ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int32
) -> Int32 {
  FileContext.of(opaque)?.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
    ?? cffmpeg_error(EINVAL)
}

private func writeFile(
  _ opaque: UnsafeMutableRawPointer?, _ buffer: UnsafePointer<UInt8>?, _ count: Int32
) -> Int32 {
  FileContext.of(opaque)?.write(UnsafeRawBufferPointer(start: buffer, count: Int(count))) ?? cffmpeg_error(EINVAL)
}

private func seekFile(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
  FileContext.of(opaque)?.seek(offset, whence) ?? Int64(cffmpeg_error(EINVAL))
}
