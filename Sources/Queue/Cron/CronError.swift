/// Why a cron entry cannot be set.
package enum CronError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The schedule cannot be read.
  case schedule(CronScheduleError)
  /// The database knows no such time zone.
  case zone(String)

  package var description: String {
    switch self {
    case .schedule(let error): "\(error)"
    case .zone(let zone): "there is no time zone '\(zone)'"
    }
  }
}
