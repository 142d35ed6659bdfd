/// Jobs of one queue, and how a worker takes them.
package enum JobLine: Sendable {
  /// Long jobs: one is claimed for each slot that is free, never ahead.
  case long(queue: String, slots: Int, handler: any JobHandler)
  /// Short jobs: up to `group` are claimed together and end together, on each of `connections` connections.
  case short(queue: String, group: Int = 1000, connections: Int = 1, handler: any ShortJobHandler)
}
