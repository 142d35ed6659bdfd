import MediaProcess
import QueueWorker
import Worker

extension WorkerConfiguration {
  /// A worker as the options describe it.
  init(_ arguments: Arguments, slots: Int) throws(CommandFailure) {
    self.init(slots: slots)
    if let megabytes = try arguments.number("--media-memory", in: 64...65536) {
      media.memoryLimit = UInt64(megabytes) << 20
    }
    backgroundSlots = try arguments.number("--background-slots", in: 0...256) ?? backgroundSlots
    if let seconds = try arguments.seconds("--grace") { grace = .seconds(seconds) }
    if let seconds = try arguments.seconds("--lease", in: 1...86_400) { queue.lease = .seconds(seconds) }
    if let seconds = try arguments.seconds("--drain") { queue.drain = .seconds(seconds) }
    if let seconds = try arguments.seconds("--poll", in: 0.01...3600) { queue.pollInterval = .seconds(seconds) }
    queue.reapInterval = min(queue.reapInterval, queue.lease / 3)
  }
}
