/// When the daily window opens and closes, by the clock of a time zone: `18:00-18:05 Europe/Berlin`, or several times of the day with
/// commas between them. A time may have seconds.
package struct WindowSchedule: Sendable, Hashable, CustomStringConvertible {
  /// A time of each day at which the window opens.
  package struct Opening: Sendable, Hashable {
    package let secondOfDay: Int
    /// The time for which the window stays open, in seconds.
    package let seconds: Int
  }

  package let openings: [Opening]
  /// The time zone: a name of the IANA time zone database.
  package let zone: String
  package let description: String

  /// Parses a schedule; nil if it is invalid. Whether the zone exists, the database knows.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, !words[1].isEmpty else { return nil }
    var openings: [Opening] = []
    for range in words[0].split(separator: ",", omittingEmptySubsequences: false) {
      let ends = range.split(separator: "-", omittingEmptySubsequences: false).map(Self.secondOfDay)
      guard ends.count == 2, let first = ends[0], let last = ends[1] else { return nil }
      openings.append(Opening(secondOfDay: first, seconds: last > first ? last - first : 86_400 + last - first))
    }
    self.openings = openings
    zone = String(words[1])
    description = text
  }

  /// Reads `18:00` or `18:00:00`.
  private static func secondOfDay(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      part.utf8.count == 2 && part.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(part) : nil
    }
    guard numbers.count == parts.count, 2...3 ~= parts.count, numbers[0] < 24,
      numbers.dropFirst().allSatisfy({ $0 < 60 })
    else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
  }
}
