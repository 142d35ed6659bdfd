// What libmicrohttpd calls, on its own threads. At file scope: a closure written elsewhere may inherit an actor's
// isolation and trap there.
internal import CMicrohttpd

private func reception(_ context: UnsafeMutableRawPointer?) -> Reception {
  Unmanaged<Reception>.fromOpaque(context!).takeUnretainedValue()
}

private func connection(of pointer: OpaquePointer?) -> Connection? {
  guard let context = cmicrohttpd_socket_context(pointer) else { return nil }
  return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
}

/// A connection was accepted, or is about to be closed.
func onConnection(
  _ context: UnsafeMutableRawPointer?, _ pointer: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
  guard let slot else { return }
  let reception = reception(context)
  if event == .CONNECTION_NOTIFY_STARTED {
    let number = reception.registry.open(
      socket: cmicrohttpd_socket(pointer), until: .now + reception.configuration.headDeadline)
    slot.pointee = Unmanaged.passRetained(Connection(number: number)).toOpaque()
  } else if let held = slot.pointee {
    let connection = Unmanaged<Connection>.fromOpaque(held).takeRetainedValue()
    reception.registry.close(connection.number)
    slot.pointee = nil
  }
}

/// A request line has come. Its target is kept as it is, because libmicrohttpd's own reading cuts it at the query.
func onTarget(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ pointer: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  connection(of: pointer)?.target = target.map { String(cString: $0) } ?? ""
  return nil
}

/// A head, a piece of body or the end of a request has come, or a connection was resumed.
func onRequest(
  _ context: UnsafeMutableRawPointer?, _ pointer: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
  _ uploadCount: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let pointer, let slot, let uploadCount, let connection = connection(of: pointer) else { return .NO }
  let reception = reception(context)
  let exchange: Exchange
  if let held = slot.pointee {
    exchange = Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
  } else {
    exchange = reception.begin(
      method: method.map { String(cString: $0) } ?? "", version: version.map { String(cString: $0) } ?? "",
      headers: headers(of: pointer), on: connection)
    slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
  }

  let bytes = UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee).bindMemory(to: UInt8.self)
  uploadCount.pointee = 0
  switch exchange.report(bytes, on: pointer) {
  case .proceed, .suspend: return .YES
  case .close: return .NO
  case .answer(let response, let isEarly):
    reception.answering(response, on: connection)
    let closing = isEarly || exchange.isLast
    return send(response, for: exchange, closing: closing, on: pointer)
      ?? send(Problem.internalError(exchange.requestID).response, for: exchange, closing: true, on: pointer) ?? .NO
  }
}

private func send(
  _ response: Response, for exchange: Exchange, closing: Bool, on pointer: OpaquePointer
) -> MHD_Result? {
  var headers = response.headers
  headers[RequestID.headerName] = exchange.requestID.description
  if closing { headers["Connection"] = "close" }
  guard let handle = ResponseHandle(response, for: pointer), handle.add(headers) else { return nil }
  // libmicrohttpd 0.9.75 ends a body in chunks even where HEAD forbids a body, and the client would take that end for
  // the next answer.
  if exchange.method == "HEAD", response.body.stream != nil { handle.forbidChunks() }
  return handle.queue(on: pointer)
}

/// A request is over: answered, cut or abandoned.
func onCompletion(
  _ context: UnsafeMutableRawPointer?, _ pointer: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let held = slot?.pointee else { return }
  slot?.pointee = nil
  let exchange = Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue()
  guard let connection = connection(of: pointer) else { return exchange.finish() }
  reception(context).end(exchange, on: connection, isComplete: reason == .REQUEST_TERMINATED_COMPLETED_OK)
}

private func headers(of pointer: OpaquePointer) -> HeaderFields {
  var headers = HeaderFields()
  withUnsafeMutablePointer(to: &headers) { headers in
    _ = MHD_get_connection_values_n(pointer, .HEADER_KIND, addHeader, headers)
  }
  return headers
}

private func addHeader(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
  _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
  func text(_ pointer: UnsafePointer<CChar>?, _ count: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count), as: UTF8.self)
  }
  context?.assumingMemoryBound(to: HeaderFields.self).pointee.append(text(name, nameCount), text(value, valueCount))
  return .YES
}
