/// One field of a schedule: which numbers it admits, a bit for each.
struct CronField: Sendable, Hashable {
  /// What a field may say.
  struct Domain: Sendable {
    let name: String
    let range: ClosedRange<Int>
    /// Words for the numbers from the start of the range on.
    let words: [String]

    static let minute = Domain(name: "minute", range: 0...59, words: [])
    static let hour = Domain(name: "hour", range: 0...23, words: [])
    static let dayOfMonth = Domain(name: "day of month", range: 1...31, words: [])
    static let month = Domain(
      name: "month", range: 1...12,
      words: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
    /// Both 0 and 7 are Sunday.
    static let dayOfWeek = Domain(
      name: "day of week", range: 0...7, words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
  }

  private var bits: UInt64 = 0
  /// Whether it begins with `*`, with or without a step.
  let isStar: Bool

  init(_ text: Substring, _ domain: Domain) throws(CronScheduleError) {
    isStar = text.hasPrefix("*")
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      let range = try Self.range(pieces[0], domain)
      guard pieces.count == 2 else {
        insert(range, step: 1)
        continue
      }
      guard pieces[0] == "*" || pieces[0].contains("-") else {
        throw CronScheduleError("in the \(domain.name) '\(part)' has a step; a step follows * or a range")
      }
      guard let step = Self.number(pieces[1]), step > 0 else {
        throw CronScheduleError("in the \(domain.name) '\(pieces[1])' is no step: it is a whole number from 1 on")
      }
      insert(range, step: step)
    }
  }

  /// Whether it admits a number.
  func admits(_ number: Int) -> Bool { bits & 1 << UInt64(number) != 0 }

  private mutating func insert(_ range: ClosedRange<Int>, step: Int) {
    for number in stride(from: range.lowerBound, through: range.upperBound, by: step) { bits |= 1 << UInt64(number) }
  }

  private static func range(_ text: Substring, _ domain: Domain) throws(CronScheduleError) -> ClosedRange<Int> {
    if text == "*" { return domain.range }
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let first = try value(ends[0], domain)
    guard ends.count == 2 else { return first...first }
    let last = try value(ends[1], domain)
    guard first <= last else {
      throw CronScheduleError("in the \(domain.name) the range '\(text)' ends before it begins; write it as two")
    }
    return first...last
  }

  private static func value(_ text: Substring, _ domain: Domain) throws(CronScheduleError) -> Int {
    if let place = domain.words.firstIndex(of: text.lowercased()) { return domain.range.lowerBound + place }
    guard let number = number(text), domain.range.contains(number) else {
      let words = domain.words.isEmpty ? "" : ", or \(domain.words[0]) to \(domain.words[domain.words.count - 1])"
      throw CronScheduleError(
        "in the \(domain.name) '\(text)' is not one of \(domain.range.lowerBound) to \(domain.range.upperBound)\(words)"
      )
    }
    return number
  }

  /// Digits alone: a sign is none of them.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { "0"..."9" ~= $0 } ? Int(text) : nil
  }
}
