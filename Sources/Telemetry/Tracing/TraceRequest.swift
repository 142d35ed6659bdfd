/// A message of Protocol Buffers as it is written: fields with their numbers, in the wire format of proto3.
struct ProtobufMessage {
  private(set) var bytes: [UInt8] = []

  mutating func varint(_ field: UInt64, _ value: UInt64) {
    append(field << 3)
    append(value)
  }

  mutating func fixed64(_ field: UInt64, _ value: UInt64) {
    append(field << 3 | 1)
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func fixed32(_ field: UInt64, _ value: UInt32) {
    append(field << 3 | 5)
    for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func data(_ field: UInt64, _ content: [UInt8]) {
    append(field << 3 | 2)
    append(UInt64(content.count))
    bytes += content
  }

  mutating func text(_ field: UInt64, _ content: String) { data(field, Array(content.utf8)) }

  mutating func message(_ field: UInt64, _ write: (inout ProtobufMessage) -> Void) {
    var message = ProtobufMessage()
    write(&message)
    data(field, message.bytes)
  }

  /// Seven bits in each byte, the lowest first.
  private mutating func append(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// The body of a request of OTLP with spans: `ExportTraceServiceRequest` of opentelemetry-proto 1.
struct TraceRequest {
  /// Describes the process: `service.name` and others.
  let resource: KeyValuePairs<String, Span.Value>
  let version: String

  /// - Parameters:
  ///   - now: the present time by the monotonic clock, and in nanoseconds since 1970-01-01 UTC.
  func bytes(_ spans: [Span], now: (ContinuousClock.Instant, UInt64)) -> [UInt8] {
    var request = ProtobufMessage()
    request.message(1) { resourceSpans in
      resourceSpans.message(1) { resource in
        for (key, value) in self.resource { resource.attribute(1, key, value) }
      }
      resourceSpans.message(2) { scopeSpans in
        scopeSpans.message(1) { scope in
          scope.text(1, "take5")
          scope.text(2, version)
        }
        for span in spans { scopeSpans.message(2) { $0.write(span, now) } }
      }
    }
    return request.bytes
  }
}

extension ProtobufMessage {
  fileprivate mutating func attribute(_ field: UInt64, _ key: String, _ value: Span.Value) {
    message(field) { pair in
      pair.text(1, key)
      pair.message(2) { any in
        switch value {
        case .text(let text): any.text(1, text)
        case .integer(let number): any.varint(3, UInt64(bitPattern: Int64(number)))
        }
      }
    }
  }

  fileprivate mutating func write(_ span: Span, _ now: (ContinuousClock.Instant, UInt64)) {
    func nanoseconds(_ instant: ContinuousClock.Instant) -> UInt64 {
      UInt64(max(0, Int64(now.1) - Int64(instant.duration(to: now.0) / .nanoseconds(1))))
    }
    func id(_ words: UInt64...) -> [UInt8] {
      words.flatMap { word in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
      }
    }
    data(1, id(span.context.trace.high, span.context.trace.low))
    data(2, id(span.context.span))
    if let parent = span.context.parent { data(4, id(parent)) }
    text(5, span.name)
    varint(6, span.kind.rawValue)
    fixed64(7, nanoseconds(span.start))
    fixed64(8, nanoseconds(span.end))
    for (key, value) in span.attributes { attribute(9, key, value) }
    // 2: an error.
    if span.isError { message(15) { $0.varint(3, 2) } }
    fixed32(16, 1)
  }
}
