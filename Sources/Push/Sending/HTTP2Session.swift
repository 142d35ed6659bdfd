internal import CPush
import Platform

/// A request on its stream, and the part of the response that has arrived.
final class Exchange {
  let work: Work
  let body: [UInt8]
  let authorization: Authorization?
  /// The header fields of the response that are read.
  fileprivate let readFields: Set<String>
  let started = ContinuousClock.now
  /// Whether its header fields have been passed to the socket, so that the server may process it.
  fileprivate var isOnWire = false
  fileprivate var sent = 0
  fileprivate(set) var response = PushResponse(status: 0)

  init(_ work: Work, body: [UInt8], authorization: Authorization?, readFields: Set<String>) {
    self.work = work
    self.body = body
    self.authorization = authorization
    self.readFields = readFields
  }

  /// How it ends when its stream or its connection is lost.
  fileprivate func ending(_ reason: String) -> Ending { isOnWire ? .lost(reason) : .unprocessed }
}

/// How an exchange ended.
enum Ending {
  case responded
  /// The server has not processed the request (RFC 9113, section 8.7).
  case unprocessed
  /// The request may have been processed.
  case lost(String)
}

/// What the callbacks of libnghttp2 fill.
final class SessionEvents {
  fileprivate(set) var exchanges: [Int32: Exchange] = [:]
  fileprivate(set) var ended: [(Exchange, Ending)] = []
  fileprivate(set) var isReady = false
  fileprivate(set) var isDraining = false

  func takeEnded() -> [(Exchange, Ending)] {
    defer { ended = [] }
    return ended
  }

  /// Ends all exchanges of a connection that is lost.
  func endAll(_ reason: String) {
    ended += exchanges.values.map { ($0, $0.ending(reason)) }
    exchanges = [:]
  }
}

/// The client's side of an HTTP/2 connection (libnghttp2), which reads and writes bytes in memory.
struct HTTP2Session: ~Copyable {
  /// The maximum number of a server's streams in use.
  static let maxStreams: UInt32 = 1000

  let events = SessionEvents()
  private let handle: OpaquePointer

  init() throws(PushError) {
    SharedLibraries.open("libnghttp2.so.14")
    var callbacks: OpaquePointer?
    var handle: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks, startSending)
    nghttp2_session_callbacks_set_on_header_callback(callbacks, receiveField)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, receiveData)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, receiveFrame)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closeStream)
    let context = Unmanaged.passUnretained(events).toOpaque()
    guard nghttp2_session_client_new(&handle, callbacks, context) == 0, let handle else {
      throw PushError(.unavailable, "no memory for HTTP/2")
    }
    self.handle = handle
    var setting = nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
    nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &setting, 1)
  }

  deinit { nghttp2_session_del(handle) }

  /// The number of requests that may start now.
  var capacity: Int {
    guard events.isReady, !events.isDraining else { return 0 }
    let limit = nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    return max(0, Int(min(limit, Self.maxStreams)) - events.exchanges.count)
  }

  /// Whether the connection has no more use.
  var isFinished: Bool {
    events.isDraining && events.exchanges.isEmpty
      || nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0
  }

  /// Starts a request; false if the connection takes no more.
  func submit(_ request: PushRequest, _ exchange: Exchange) -> Bool {
    let fields =
      [(":method", "POST"), (":scheme", "https"), (":authority", request.origin.authority), (":path", request.path)]
      + request.fields.map { ($0.name, $0.value) }
      + (exchange.authorization.map { [("authorization", $0.value)] } ?? [])
      + [("content-length", "\(request.body.count)")]
    var text: [UInt8] = []
    for (name, value) in fields {
      text += name.utf8
      text += value.utf8
    }
    let context = Unmanaged.passUnretained(exchange).toOpaque()
    var provider = nghttp2_data_provider(source: nghttp2_data_source(), read_callback: readBody)
    let stream = text.withUnsafeMutableBufferPointer { text in
      var offset = 0
      let list = fields.map { name, value in
        let (first, second) = (text.baseAddress.map { $0 + offset }, name.utf8.count)
        offset += second + value.utf8.count
        return nghttp2_nv(
          name: first, value: first.map { $0 + second }, namelen: second, valuelen: value.utf8.count,
          flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
      }
      return nghttp2_submit_request(handle, nil, list, list.count, &provider, context)
    }
    guard stream > 0 else { return false }
    events.exchanges[stream] = exchange
    return true
  }

  /// Resets the streams of requests that started before a time, and ends them.
  func cancel(startedBefore limit: ContinuousClock.Instant, _ reason: String) {
    for (stream, exchange) in events.exchanges where exchange.started < limit {
      nghttp2_session_set_stream_user_data(handle, stream, nil)
      nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
      events.exchanges[stream] = nil
      events.ended.append((exchange, exchange.ending(reason)))
    }
  }

  /// Takes bytes of the server; false if they are not HTTP/2.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    nghttp2_session_mem_recv(handle, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) >= 0
  }

  /// Appends the bytes that are to be sent next; false if there is no memory for them.
  func send(to output: inout [UInt8]) -> Bool {
    while output.count < 1 << 16 {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(handle, &bytes)
      guard count >= 0 else { return false }
      if count == 0 { break }
      output += UnsafeBufferPointer(start: bytes, count: count)
    }
    return true
  }
}

// MARK: Callbacks

private func exchange(_ session: OpaquePointer?, _ stream: Int32) -> Exchange? {
  nghttp2_session_get_stream_user_data(session, stream).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
}

private func events(_ context: UnsafeMutableRawPointer?) -> SessionEvents? {
  context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
}

private func startSending(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame = frame?.pointee.hd, UInt32(frame.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
  exchange(session, frame.stream_id)?.isOnWire = true
  return 0
}

private func readBody(
  _ session: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int,
  _ flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?, _: UnsafeMutableRawPointer?
) -> Int {
  guard let exchange = exchange(session, stream) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
  let part = exchange.body[exchange.sent...].prefix(count)
  UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: part)
  exchange.sent = part.endIndex
  if exchange.sent == exchange.body.count { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return part.count
}

/// The maximum length of the body of a response.
private let maxBodyBytes = 16 << 10

private func receiveField(
  _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?, _ nameCount: Int,
  _ value: UnsafePointer<UInt8>?, _ valueCount: Int, _: UInt8, _: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame, let exchange = exchange(session, frame.pointee.hd.stream_id), valueCount <= 1024 else { return 0 }
  let name = String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
  let value = String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
  if name == ":status" { exchange.response.status = Int(value) ?? 0 }
  if exchange.readFields.contains(name) { exchange.response.headers[name] = value }
  return 0
}

private func receiveData(
  _ session: OpaquePointer?, _: UInt8, _ stream: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
  _: UnsafeMutableRawPointer?
) -> Int32 {
  guard let exchange = exchange(session, stream) else { return 0 }
  guard exchange.response.body.count + count <= maxBodyBytes else {
    // No document of a provider describes a longer body. The status is enough.
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_NO_ERROR.rawValue)
    return 0
  }
  exchange.response.body += UnsafeBufferPointer(start: bytes, count: count)
  return 0
}

private func receiveFrame(
  _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let frame = frame?.pointee.hd, let events = events(context) else { return 0 }
  if UInt32(frame.type) == NGHTTP2_SETTINGS.rawValue { events.isReady = true }
  if UInt32(frame.type) == NGHTTP2_GOAWAY.rawValue { events.isDraining = true }
  return 0
}

private func closeStream(
  _: OpaquePointer?, _ stream: Int32, _ code: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let events = events(context), let exchange = events.exchanges.removeValue(forKey: stream) else { return 0 }
  // A server may respond and reset the rest of the request (RFC 9113, section 8.1).
  let isWhole = code == NGHTTP2_NO_ERROR.rawValue && exchange.response.status >= 200
  let isRefused = code == NGHTTP2_REFUSED_STREAM.rawValue
  let problem = exchange.ending("the stream was reset with code \(code)")
  events.ended.append((exchange, isWhole ? .responded : isRefused ? .unprocessed : problem))
  return 0
}
