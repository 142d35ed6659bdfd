internal import CMicrohttpd
internal import Platform

/// An answer as libmicrohttpd holds it.
struct ResponseHandle: ~Copyable {
  private let pointer: OpaquePointer
  private let status: Status

  /// Builds it for a connection; nil when the file cannot be opened again or memory ran out.
  init?(_ response: Response, for connection: OpaquePointer) {
    guard let pointer = Self.make(response.body, for: connection) else { return nil }
    self.pointer = pointer
    status = response.status
  }

  deinit { MHD_destroy_response(pointer) }

  /// Adds header fields; false when one is not fit to be sent, such as one with a line break in it.
  borrowing func add(_ headers: HeaderFields) -> Bool {
    headers.allSatisfy { MHD_add_response_header(pointer, $0.name, $0.value) == .YES }
  }

  /// Sends its body, if its length is unknown, without chunks up to the connection's end.
  borrowing func forbidChunks() { _ = cmicrohttpd_forbid_chunks(pointer) }

  /// Hands it to a connection, which keeps a reference of its own.
  borrowing func queue(on connection: OpaquePointer) -> MHD_Result {
    MHD_queue_response(connection, UInt32(status.code), pointer)
  }

  private static func make(_ body: ResponseBody, for connection: OpaquePointer) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
      return bytes.withUnsafeBytes { cmicrohttpd_copied_response($0.baseAddress, $0.count) }
    case .file(let region):
      // libmicrohttpd closes what it is given, while the region may live on.
      guard let copy = try? region.descriptor.duplicate() else { return nil }
      let number = copy.release()
      let made = MHD_create_response_from_fd_at_offset64(UInt64(region.count), number, UInt64(region.offset))
      if made == nil { _ = Descriptor(owning: number) }
      return made
    case .stream(let stream): return BodyStreamReader.makeResponse(stream, on: connection)
    }
  }
}
