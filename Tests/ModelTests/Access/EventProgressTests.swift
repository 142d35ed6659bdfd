import Model
import Testing

@Suite("Positions of readers")
struct EventProgressTests {
  @Test("an id has two numbers of at most 18 digits, as the version before reads it")
  func ids() {
    for (text, number, window) in [
      ("0-0", 0, 0), ("222-0", 222, 0), ("28886399165246-7", 28_886_399_165_246, 7), ("007-01", 7, 1),
      ("999999999999999999-999999999999999999", 999_999_999_999_999_999, 999_999_999_999_999_999),
    ] as [(String, Int64, Int64)] {
      #expect(EventPosition(text) == EventPosition(number: number, window: window), "\(text)")
    }
    let position = EventPosition(number: 28_886_399_165_246, window: 7)
    #expect(EventPosition(position.description) == position)
    for text in [
      "", "-", "9", "9-", "-9", "1-2-3", "0-1-2-3", "a-b", "1-b", "-1-0", "+1-0", "1--0", " 1-0", "1-0 ", "1.0-0",
      "１-0",
      "1000000000000000000-0", "0-1000000000000000000", "9223372036854775808-0",
      String(repeating: "9", count: 1000) + "-0",
    ] { #expect(EventPosition(text) == nil, "\(text)") }
  }

  /// What a reader gets: of the events of a stream those that follow, and `reset` first or not.
  private struct Case {
    var name: String
    /// The id of the reader, and the numbers of all events that are stored.
    var number: Int64
    var stored: [Int64]
    /// Nil: that of the last one that is stored, or that at which the history begins.
    var last: Int64?
    var history: Int64 = 0
    var isReset: Bool
    /// Where it continues, and what it gets.
    var position: Int64
    var gets: [Int64]
  }

  private static let cases = [
    Case(name: "in the first history", number: 2, stored: [1, 2, 3], isReset: false, position: 2, gets: [3]),
    Case(name: "events were deleted", number: 1, stored: [4, 5], isReset: true, position: 3, gets: [4, 5]),
    Case(name: "all were deleted", number: 1, stored: [], last: 5, isReset: true, position: 5, gets: []),
    Case(
      name: "of another store", number: 999_999_999_999_999_999, stored: [1, 2], isReset: true, position: 2, gets: []),
    // The numbers 4 and 5 were lost; 101 is the first of the history after 100.
    Case(
      name: "saw what was lost, and nothing is new", number: 5, stored: [1, 2, 3], history: 100, isReset: true,
      position: 100, gets: []),
    Case(
      name: "saw what was lost", number: 5, stored: [1, 2, 3, 101, 102], history: 100, isReset: true, position: 100,
      gets: [101, 102]),
    Case(
      name: "saw nothing that was lost", number: 3, stored: [1, 2, 3, 101], history: 100, isReset: true, position: 100,
      gets: [101]),
    Case(
      name: "lacks events of the earlier history too", number: 1, stored: [1, 2, 3, 101], history: 100, isReset: true,
      position: 1, gets: [2, 3, 101]),
    Case(
      name: "from the begin", number: 0, stored: [1, 2, 101], history: 100, isReset: true, position: 0,
      gets: [1, 2, 101]),
    Case(
      name: "two histories later", number: 103, stored: [1, 2, 3, 101, 201], history: 200, isReset: true, position: 200,
      gets: [201]),
    Case(
      name: "in the present history", number: 101, stored: [3, 101, 102], history: 100, isReset: false, position: 101,
      gets: [102]),
    Case(
      name: "began in it without an event", number: 100, stored: [3, 101], history: 100, isReset: false, position: 100,
      gets: [101]),
    Case(name: "has all", number: 100, stored: [3], history: 100, isReset: false, position: 100, gets: []),
  ]

  @Test("a reader of another history gets reset, and then exactly what it lacks, of a user and of all")
  func histories() {
    for entry in Self.cases {
      for isForAll in [false, true] {
        let last = max(entry.last ?? entry.stored.last ?? 0, entry.history)
        let history = EventHistory(after: entry.history, window: 4)
        var progress = EventProgress(at: EventPosition(number: entry.number, window: 9))
        func next() -> [Int64] { entry.stored.filter { $0 > progress.position.number } }
        let isReset = progress.resume(
          at: next().first, oldest: isForAll ? entry.stored.first : nil, last: last, in: history)
        // An id that the store does not know: the reader of all gets what is stored.
        let isUnknownOfAll = isForAll && entry.number > last
        #expect(isReset == entry.isReset, "\(entry.name)")
        #expect(progress.position.number == (isUnknownOfAll ? 0 : entry.position), "\(entry.name)")
        #expect(next() == (isUnknownOfAll ? entry.stored : entry.gets), "\(entry.name)")
        #expect(progress.position.window == (entry.number < entry.history ? 4 : 9), "\(entry.name)")
      }
    }
  }

  @Test("a stream that goes on gets one reset for a history, wherever its pages end")
  func pages() {
    for limit in 1...6 {
      var stored: [Int64] = [1, 2, 3, 4, 101, 102]
      var progress = EventProgress(at: EventPosition(number: 1, window: 0))
      var (resets, received): (Int, [Int64]) = (0, [])
      for round in 0..<12 {
        if round == 10 { stored.append(103) }
        let page = stored.filter { $0 > progress.position.number }.prefix(limit)
        if progress.resume(
          at: page.first, oldest: nil, last: stored.last ?? 0, in: EventHistory(after: 100, window: 0))
        {
          resets += 1
        }
        received += page
        if let last = page.last { progress.position.number = last }
      }
      #expect(resets == 1 && received == [2, 3, 4, 101, 102, 103], "\(limit)")
    }
  }

  @Test("a client that connects again before the history has an event gets reset once")
  func again() {
    var progress = EventProgress(at: EventPosition(number: 3, window: 0))
    let history = EventHistory(after: 100, window: 0)
    let isReset = progress.resume(at: nil, oldest: nil, last: 100, in: history)
    #expect(isReset)
    var next = EventProgress(at: progress.position)
    let isResetAgain = next.resume(at: 101, oldest: nil, last: 101, in: history)
    #expect(!isResetAgain)
  }
}
