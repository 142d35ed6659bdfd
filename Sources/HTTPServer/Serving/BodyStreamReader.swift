internal import CMicrohttpd

/// What libmicrohttpd keeps with a streamed answer and hands back when it wants more of its body.
///
/// It lives as long as the answer does, and only the thread that serves the connection touches it.
final class BodyStreamReader {
  private let stream: BodyStream
  private let connection: OpaquePointer

  private init(_ stream: BodyStream, on connection: OpaquePointer) {
    self.stream = stream
    self.connection = connection
  }

  /// The answer as libmicrohttpd holds it; nil when memory ran out.
  static func makeResponse(_ stream: BodyStream, on connection: OpaquePointer) -> OpaquePointer? {
    let reader = Unmanaged.passRetained(BodyStreamReader(stream, on: connection))
    let made = cmicrohttpd_streamed_response(reader.toOpaque(), readBody, releaseReader)
    if made == nil { reader.release() }
    return made
  }

  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    switch stream.read(into: buffer, on: connection) {
    case .send(let count): count
    case .suspend: 0
    case .end: cmicrohttpd_end_of_stream
    case .close: cmicrohttpd_end_with_error
    }
  }
}

// At file scope: a closure written elsewhere may inherit an actor's isolation and trap on libmicrohttpd's thread.
private func readBody(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
) -> Int {
  guard let context else { return cmicrohttpd_end_with_error }
  return Unmanaged<BodyStreamReader>.fromOpaque(context).takeUnretainedValue()
    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
}

private func releaseReader(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<BodyStreamReader>.fromOpaque(context).release() }
}
