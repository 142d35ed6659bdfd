package import MediaProcess
package import QueueWorker

/// How a worker works.
package struct WorkerConfiguration: Sendable {
  /// Jobs at a time; one for each core is the fastest in sum.
  package var slots: Int
  /// Stored media that are made again at a time, with the processor time that nobody else wants.
  package var backgroundSlots = 1
  /// How long replaced outputs can be read.
  package var grace = Duration.seconds(24 * 60 * 60)
  package var queue: QueueWorkerConfiguration
  package var media: MediaProcess.Configuration

  package init(
    slots: Int = 1, queue: QueueWorkerConfiguration = QueueWorkerConfiguration(),
    media: MediaProcess.Configuration = MediaProcess.Configuration()
  ) {
    self.slots = slots
    self.queue = queue
    self.media = media
  }
}
