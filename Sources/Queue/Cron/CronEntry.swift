/// What is to be put into a queue by the calendar, and when.
package struct CronEntry: Sendable, Hashable {
  package var name: String
  /// As `CronSchedule` reads it.
  package var schedule: String
  /// By whose clock; a name of the IANA database.
  package var zone: String
  package var queue: String
  package var kind: String
  /// The most time of one attempt.
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
