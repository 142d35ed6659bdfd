/// The identity of one span: what a request brings with it and a job keeps (W3C Trace Context, header field `traceparent`).
package struct TraceContext: Sendable, Hashable, CustomStringConvertible {
  /// The header field.
  package static let headerName = "traceparent"

  /// 16 bytes, not all zero.
  let trace: (high: UInt64, low: UInt64)
  /// 8 bytes, not all zero.
  let span: UInt64
  /// The span that has caused this one, as far as it is known here.
  let parent: UInt64?
  /// Whether the spans of the trace are recorded.
  package let isSampled: Bool

  private init(trace: (high: UInt64, low: UInt64), span: UInt64, parent: UInt64? = nil, isSampled: Bool) {
    self.trace = trace
    self.span = span
    self.parent = parent
    self.isSampled = isSampled
  }

  /// Starts a trace.
  ///
  /// - Parameter ratio: the share of traces that are sampled, by the last 56 bits of their ids, as other implementations do.
  package init(ratio: Double) {
    let trace = (high: UInt64.random(in: .min ... .max), low: UInt64.random(in: 1 ... .max))
    let isSampled = Double(trace.low & 0xFF_FFFF_FFFF_FFFF) < ratio * Double(1 << 56 as UInt64)
    self.init(trace: trace, span: .random(in: 1 ... .max), isSampled: isSampled)
  }

  /// The context of a span that this one causes.
  package func child() -> TraceContext {
    TraceContext(trace: trace, span: .random(in: 1 ... .max), parent: span, isSampled: isSampled)
  }

  /// The same context, of a stranger: of the traces that are sampled elsewhere a share is sampled here. Chance decides, since the stranger has
  /// chosen the id.
  ///
  /// - Parameter ratio: the share, from 0 to 1.
  package func limited(to ratio: Double) -> TraceContext {
    guard isSampled, Double.random(in: 0..<1) >= ratio else { return self }
    return TraceContext(trace: trace, span: span, parent: parent, isSampled: false)
  }

  /// Parses `00-<trace>-<span>-<flags>`; nil if it is invalid. Of a later version, what follows the flags is ignored.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 55, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash,
      let version = Self.number(bytes[0..<2]), version != 0xFF,
      version == 0 ? bytes.count == 55 : bytes.count == 55 || bytes[55] == Self.dash,
      let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high | low != 0,
      let span = Self.number(bytes[36..<52]), span != 0, let flags = Self.number(bytes[53..<55])
    else { return nil }
    self.init(trace: (high, low), span: span, isSampled: flags & 1 == 1)
  }

  package var description: String {
    "00-\(Self.digits(trace.high))\(Self.digits(trace.low))-\(Self.digits(span))-\(isSampled ? "01" : "00")"
  }

  private static let dash = UInt8(ascii: "-")

  /// The value of lowercase hexadecimal digits; nil if there is another character.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }

  private static func digits(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  package static func == (left: TraceContext, right: TraceContext) -> Bool {
    left.trace == right.trace && left.span == right.span && left.isSampled == right.isSampled
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(span) }
}
