import Model
import Telemetry

/// The spans of one attempt: its own, below the span of the request which submitted the job, and below it one for each stage.
final class AttemptTrace: Sendable {
  /// What the attempt does below a stage belongs to it.
  let scope: TraceScope
  private let context: TraceContext
  private let tracer: Tracer
  private let start = ContinuousClock.now

  init(_ job: ClaimedJob, _ tracer: Tracer) {
    self.tracer = tracer
    context = tracer.begin(in: job.trace.flatMap { TraceContext($0) })
    scope = TraceScope(context)
  }

  /// Begins a stage, or the time between two of them.
  func begin(stage isStage: Bool) -> TraceContext {
    let next = isStage ? context.child() : context
    scope.enter(next)
    return next
  }

  func end(stage: String, _ context: TraceContext, since start: ContinuousClock.Instant) {
    tracer.record(Span(stage, .internal, context, from: start))
  }

  /// Ends the attempt.
  ///
  /// - Parameter outcome: as in `WorkerMetrics.end`; nil: none was written.
  func end(_ job: ClaimedJob, outcome: String?) {
    tracer.record(
      Span(
        "process \(job.queue)", .consumer, context, from: start,
        [
          "messaging.system": "take5", "messaging.operation.type": "process",
          "messaging.destination.name": .text(job.queue), "messaging.message.id": .text(job.publicID.description),
          "take5.job.kind": .text(job.kind), "take5.job.attempt": .integer(job.attempt),
          "take5.job.waited_ms": .integer(Int(job.waitedSeconds * 1000)),
          "take5.job.outcome": .text(outcome ?? "unknown"),
        ],
        isError: ["retried", "dead", "postponed", "lost"].contains(outcome)))
  }
}
