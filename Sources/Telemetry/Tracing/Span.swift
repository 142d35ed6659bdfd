internal import Platform

/// One finished operation of a trace.
package struct Span: Sendable {
  /// What the operation is to others, with the numbers of OpenTelemetry.
  package enum Kind: UInt64, Sendable {
    case `internal` = 1
    case server = 2
    case client = 3
    case consumer = 5
  }

  /// An attribute; neither secrets nor what names a person or a file of one.
  package enum Value: Sendable, Hashable, ExpressibleByStringLiteral {
    case text(String)
    case integer(Int)

    package init(stringLiteral value: String) { self = .text(value) }
  }

  package let context: TraceContext
  package let name: String
  package let kind: Kind
  package let start: ContinuousClock.Instant
  package let end: ContinuousClock.Instant
  package let attributes: KeyValuePairs<String, Value>
  /// Whether the operation failed by a fault of this side.
  package let isError: Bool

  package init(
    _ name: String, _ kind: Kind, _ context: TraceContext, from start: ContinuousClock.Instant,
    to end: ContinuousClock.Instant = .now, _ attributes: KeyValuePairs<String, Value> = [:], isError: Bool = false
  ) {
    self.context = context
    self.name = name
    self.kind = kind
    self.start = start
    self.end = end
    self.attributes = attributes
    self.isError = isError
  }
}

/// The span that the present task works for: what is done below it without knowing of traces, such as a request to the object
/// store, is its child. It changes as an attempt goes from stage to stage.
package final class TraceScope: Sendable {
  package static var current: TraceScope? { TaskScope.current as? TraceScope }

  private let innermost: Locked<TraceContext>

  package init(_ context: TraceContext) { innermost = Locked(context) }

  package var context: TraceContext { innermost.withLock { $0 } }

  package func enter(_ context: TraceContext) { innermost.withLock { $0 = context } }
}
