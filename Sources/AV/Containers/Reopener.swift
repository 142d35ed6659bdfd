internal import CFFmpeg
import Platform

/// Answers a muxer's requests to open a file: reading opens its own file, whatever the URL; writing is refused.
final class Reopener {
  private let file: OpenFile
  private var readers: [UnsafeMutablePointer<AVIOContext>: FileContext] = [:]

  init(_ file: OpenFile) { self.file = file }

  /// Answers the requests of a muxer, which must not outlive this object.
  func install(on context: UnsafeMutablePointer<AVFormatContext>) {
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.io_open = reopenForReading
    context.pointee.io_close2 = closeReopened
  }

  fileprivate func open(flags: Int32) throws(AVError) -> UnsafeMutablePointer<AVIOContext> {
    guard flags & AVIO_FLAG_WRITE == 0 else { throw AVError(cffmpeg_error(EPERM), "io_open") }
    // A muxer reads what it has written when it moves it to insert the index in front.
    let reader = try FileContext(file)
    readers[reader.context] = reader
    return reader.context
  }

  fileprivate func close(_ context: UnsafeMutablePointer<AVIOContext>) { readers[context] = nil }

  fileprivate static func of(_ context: UnsafeMutablePointer<AVFormatContext>?) -> Reopener? {
    guard let opaque = context?.pointee.opaque else { return nil }
    return Unmanaged<Reopener>.fromOpaque(opaque).takeUnretainedValue()
  }
}

private func reopenForReading(
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

private func closeReopened(
  _ context: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<AVIOContext>?
) -> Int32 {
  if let io { Reopener.of(context)?.close(io) }
  return 0
}
