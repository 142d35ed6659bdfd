/// Why a text is no schedule, said so that it can be put right.
package struct CronScheduleError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
