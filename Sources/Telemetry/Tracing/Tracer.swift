import Glibc
package import Platform

/// Records finished spans and sends them to a collector, in batches, on a thread of its own.
///
/// Nothing waits for it: spans that find no room in the queue are dropped, and so are spans that the collector does not take.
package final class Tracer: Sendable {
  /// The limits of a tracer.
  package struct Configuration: Sendable {
    /// The share of the traces beginning here that are sampled: 0 to 1.
    package var ratio = 1.0
    /// The maximum number of spans that wait.
    package var capacity = 4096
    /// The maximum number of spans that are sent together.
    package var batch = 512
    /// The time between two looks at the queue.
    package var interval = Duration.milliseconds(500)
    /// Describes the process: `service.name` and others.
    package var resource: KeyValuePairs<String, Span.Value> = [:]
    package var version = ""

    package init() {}
  }

  private struct Queue {
    var spans: [Span] = []
    var isStopping = false
  }

  private let configuration: Configuration
  private let send: @Sendable ([UInt8]) throws -> Void
  private let onEnd: @Sendable (Int, Bool) -> Void
  private let queue = Locked(Queue())
  private let hasEnded = OneShot<Void>()

  /// Starts the thread of the tracer, which ends after `stop()`.
  ///
  /// - Parameters:
  ///   - send: sends the body of a request of OTLP over HTTP; it may block, and throws if the collector does not take it.
  ///   - onEnd: called with a number of spans, and whether they were sent or dropped; it must not block.
  package init(
    _ configuration: Configuration, send: @escaping @Sendable ([UInt8]) throws -> Void,
    onEnd: @escaping @Sendable (_ spans: Int, _ areSent: Bool) -> Void
  ) throws(SystemError) {
    self.configuration = configuration
    self.send = send
    self.onEnd = onEnd
    try NamedThread(name: "traces") { self.run() }.detach()
  }

  /// The context of a new span: a child of the parent, or the first span of a trace.
  package func begin(in parent: TraceContext?) -> TraceContext {
    parent?.child() ?? TraceContext(ratio: configuration.ratio)
  }

  /// Takes a finished span; nothing happens if its trace is not sampled.
  package func record(_ span: Span) {
    guard span.context.isSampled else { return }
    let isTaken = queue.withLock { queue in
      guard queue.spans.count < configuration.capacity else { return false }
      queue.spans.append(span)
      return true
    }
    if !isTaken { onEnd(1, false) }
  }

  /// Sends what waits, and ends the thread.
  package func stop() async {
    queue.withLock { $0.isStopping = true }
    await hasEnded.value
  }

  private func run() {
    var isStopping = false
    while !isStopping {
      usleep(UInt32(configuration.interval / .microseconds(1)))
      isStopping = queue.withLock { $0.isStopping }
      while sendBatch() {}
    }
    hasEnded.fulfil(())
  }

  /// Sends the oldest spans; false if none wait, or if they were not taken: a collector that is away gets one batch at each
  /// look at the queue.
  private func sendBatch() -> Bool {
    let spans = queue.withLock { queue in
      let spans = Array(queue.spans.prefix(configuration.batch))
      queue.spans.removeFirst(spans.count)
      return spans
    }
    guard !spans.isEmpty else { return false }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = (ContinuousClock.now, UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    let request = TraceRequest(resource: configuration.resource, version: configuration.version)
    do {
      try send(request.bytes(spans, now: now))
      onEnd(spans.count, true)
      return true
    } catch {
      onEnd(spans.count, false)
      return false
    }
  }
}
