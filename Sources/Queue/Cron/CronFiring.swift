package import Model

/// That a cron entry put a job into its queue.
package struct CronFiring: Sendable, Hashable {
  package let name: String
  package let queue: String
  package let job: PublicID
}
