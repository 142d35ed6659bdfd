import FoundationEssentials
import Model
import Queue

/// A cron entry as the command line shows it.
struct CronReport: Encodable {
  let name: String
  let schedule: String
  let zone: String
  let kind: String
  let arguments: [String: Int]?
  let paused: Bool
  let lastAt: Date?
  let next: [Date]

  init(_ record: CronRecord) {
    name = record.entry.name
    schedule = record.entry.schedule
    zone = record.entry.zone
    kind = record.entry.kind
    arguments = try? JSON.decode([String: Int].self, from: record.entry.arguments)
    paused = record.isPaused
    lastAt = record.lastAt
    next = record.next
  }

  /// In one line.
  var line: String {
    let times = paused ? "paused" : "next \(next.map(JSON.text(of:)).joined(separator: " "))"
    return "\(name)  \(schedule)  \(zone)  \(kind)  \(times)"
  }
}
