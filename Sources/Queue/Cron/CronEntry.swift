package import FoundationEssentials
package import Model

/// A cron entry: a job that a cron schedule enqueues.
package struct CronEntry: Sendable, Hashable {
  package var name: String
  /// In the form that `CronSchedule` reads.
  package var schedule: String
  /// The time zone of the schedule: a name of the IANA time zone database.
  package var zone: String
  package var queue: String
  package var kind: String
  /// The longest time of one attempt.
  package var deadlineSeconds: Int
  /// A JSON object.
  package var arguments: [UInt8]

  package init(
    name: String, schedule: String, zone: String = "UTC", queue: String, kind: String, deadlineSeconds: Int = 60,
    arguments: [UInt8] = Array("{}".utf8)
  ) {
    self.name = name
    self.schedule = schedule
    self.zone = zone
    self.queue = queue
    self.kind = kind
    self.deadlineSeconds = deadlineSeconds
    self.arguments = arguments
  }
}

/// A cron entry with its state, as operators see it.
package struct CronRecord: Sendable, Hashable {
  package let entry: CronEntry
  package let isPaused: Bool
  /// The scheduled time of the last firing.
  package let lastAt: Date?
  /// The next scheduled times, in order; empty while the entry is paused.
  package let next: [Date]
}

/// A job that a cron entry enqueued.
package struct CronFiring: Sendable, Hashable {
  package let name: String
  package let queue: String
  package let job: PublicID
}

/// The error of an invalid cron entry.
package enum CronError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The schedule is invalid.
  case schedule(CronScheduleError)
  /// The database does not know the time zone.
  case zone(String)

  package var description: String {
    switch self {
    case .schedule(let error): "\(error)"
    case .zone(let zone): "unknown time zone '\(zone)'"
    }
  }
}
