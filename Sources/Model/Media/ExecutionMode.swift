/// How a plan is carried out; what comes out is the same, byte for byte.
package enum ExecutionMode: String, Codable, Sendable, CaseIterable {
  /// On one thread: the least work and memory for a job, for machines with a job for each core.
  case throughput
  /// Both decoders and the encoder on threads of their own: a job is done sooner, for machines with idle cores.
  case latency
}
