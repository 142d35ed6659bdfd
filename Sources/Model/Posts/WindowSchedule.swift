/// When the daily window opens, and for how long, by the clock of a time zone.
///
/// `18:00-18:05 Europe/Berlin` opens and closes at fixed times, several of them with commas between them; `5m in 09:00-21:00 Europe/Berlin`
/// opens once in these hours, at a time that is chosen at random. `mon-fri,sun` before it names the days. A time may have seconds.
package struct WindowSchedule: Sendable, Hashable, CustomStringConvertible {
  /// The hours of a day in which the window opens once.
  package struct Opening: Sendable, Hashable {
    /// The first second of the day at which it may open.
    package let first: Int
    /// The second that is the end of the hours, after the begin of the day; the first one if the time is fixed.
    package let end: Int
    /// The time for which the window stays open, in seconds.
    package let seconds: Int
  }

  /// The days of the week, Monday is 1.
  package let days: [Int]
  package let openings: [Opening]
  /// The time zone: a name of the IANA time zone database.
  package let zone: String
  package let description: String

  /// Whether the time of opening is chosen at random.
  package var isRandom: Bool { openings.contains { $0.first != $0.end } }

  private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let secondsOfDay = 86_400

  /// Parses a schedule; nil if it is invalid. Whether the zone exists, the database knows.
  package init?(_ text: String) {
    var words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard let zone = words.popLast(), !zone.isEmpty, let hours = words.popLast() else { return nil }
    var length: Int?
    if words.last == "in" {
      guard let seconds = words.dropLast().last.flatMap(Self.length) else { return nil }
      length = seconds
      words.removeLast(2)
    }
    guard words.count < 2, let days = words.first.map(Self.days) ?? Array(1...7) else { return nil }
    var openings: [Opening] = []
    for range in hours.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = range.split(separator: "-", omittingEmptySubsequences: false).map(Self.secondOfDay)
      guard ends.count == 2, let first = ends[0], let last = ends[1] else { return nil }
      let end = last > first ? last : last + Self.secondsOfDay
      openings.append(Opening(first: first, end: length == nil ? first : end, seconds: length ?? end - first))
    }
    guard length == nil || openings.count == 1 else { return nil }
    self.days = days
    self.openings = openings
    self.zone = String(zone)
    description = text
  }

  /// Reads `mon-fri,sun`; a range may go over the end of the week.
  private static func days(_ text: Substring) -> [Int]? {
    var days: Set<Int> = []
    for range in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = range.split(separator: "-", omittingEmptySubsequences: false)
        .map { name in names.firstIndex { $0 == name } }
      guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1] else { return nil }
      let week = names.count
      days.formUnion((0..<week).filter { ($0 - first + week) % week <= (last - first + week) % week }.map { $0 + 1 })
    }
    return days.sorted()
  }

  /// Reads a length such as `90s` or `5m`, of a day at most; nil if it is none.
  private static func length(_ text: Substring) -> Int? {
    guard let unit = ["s": 1, "m": 60][text.suffix(1)], let number = number(text.dropLast(), digits: 1...5) else {
      return nil
    }
    return 1...secondsOfDay ~= number * unit ? number * unit : nil
  }

  private static func secondOfDay(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { number($0, digits: 2...2) }
    guard numbers.count == parts.count, 2...3 ~= parts.count, numbers[0] < 24,
      numbers.dropFirst().allSatisfy({ $0 < 60 })
    else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
  }

  private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
    digits ~= text.utf8.count && text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(text) : nil
  }
}
