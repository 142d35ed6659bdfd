internal import CFFmpeg
import Platform

/// The `io_open` callback of a muxer: lets the muxer reopen its own file for reading, and refuses to open any other.
final class Reopener {
  private let file: OpenFile
  private var readers: [UnsafeMutablePointer<AVIOContext>: FileContext] = [:]

  init(_ file: OpenFile) { self.file = file }

  fileprivate func open(flags: Int32) throws(AVError) -> UnsafeMutablePointer<AVIOContext>? {
    guard flags & AVIO_FLAG_WRITE == 0 else { throw AVError(cffmpeg_error(EPERM), "io_open") }
    // A muxer reads what it has written when it moves it to insert the index in front.
    let reader = try FileContext(file)
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
