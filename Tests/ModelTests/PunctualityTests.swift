import FoundationEssentials
import Model
import Testing

@Suite("Posts on time")
struct PunctualityTests {
  /// Two windows of 300 seconds, a day apart; times are in seconds after the opening of the second.
  private static func judge(
    recorded: Double?, began: Double? = nil, arrived: Double, _ rule: Definition.Window = Definition.Window()
  ) -> Punctuality {
    let start = Date(timeIntervalSince1970: 1_795_600_000)
    func window(at time: Double) -> Punctuality.Window? {
      [-86_400.0, 0].last { $0 <= time }.map { .init(opened: start + $0, closes: start + $0 + 300) }
    }
    let began = began ?? arrived
    let time = Punctuality.recorded(recorded.map { start + $0 }, began: start + began, arrived: start + arrived)
    return Punctuality(
      recorded: time, began: start + began, arrived: start + arrived,
      ofRecording: time.flatMap { window(at: min($0.timeIntervalSince(start) + rule.earlySeconds, arrived)) },
      ofArrival: window(at: arrived), rule)
  }

  @Test(
    "a moment is on time, late by seconds after the close, or outside",
    arguments: [
      (10, 20, .onTime, nil), (nil, 20, .onTime, nil), (nil, 300, .onTime, nil), (nil, 360, .onTime, nil),
      (nil, 361, .late, 61), (360, 5000, .onTime, nil), (361, 5000, .late, 61), (nil, 5000, .late, 4700),
      // Offline: it is recorded on time and arrives within a day, or later.
      (10, 300 + 86_400, .onTime, nil), (10, 300 + 86_401, .late, 86_401),
      // Recorded before the notification; or in the window of the day before.
      (-10, 20, .outside, nil), (-6, 20, .outside, nil),
      // A clock that is a little slow, and a time of whole seconds, right after the opening.
      (-2.5, 1, .onTime, nil), (-5, 20, .onTime, nil),
      (-86_390, 20, .onTime, nil), (-86_390, 301, .outside, nil),
      // Before any window.
      (nil, -100_000, .outside, nil), (-100_000, 20, .outside, nil),
      // A clock that is a little fast, and times that are not believable.
      (200, 10, .onTime, nil), (1000, 10, .onTime, nil), (-40 * 86_400, 400, .late, 100),
    ] as [(Double?, Double, Punctuality.State, Int?)])
  func judged(recorded: Double?, arrived: Double, state: Punctuality.State, late: Int?) {
    #expect(Self.judge(recorded: recorded, arrived: arrived) == Punctuality(state: state, lateSeconds: late))
  }

  @Test(
    "no recording is later than the beginning of its upload, which is believed as long as the definition says",
    arguments: [
      // It arrives and begins to arrive in the window, but claims to be of the next minutes.
      (1000, 10, 20, .onTime, nil),
      // What began before the window opened was not recorded in it, whatever is claimed.
      (10, -60, 20, .outside, nil), (10, -4, 20, .onTime, nil),
      // It claims to be of the window, and its upload began 600 seconds after the close, or later.
      (10, 900, 1000, .onTime, nil), (10, 901, 1000, .late, 700), (400, 901, 1000, .late, 700),
      (400, 900, 1000, .late, 100),
    ] as [(Double, Double, Double, Punctuality.State, Int?)])
  func upload(recorded: Double, began: Double, arrived: Double, state: Punctuality.State, late: Int?) {
    let rule = Definition.Window(uploadSeconds: 600)
    let judged = Self.judge(recorded: recorded, began: began, arrived: arrived, rule)
    #expect(judged == Punctuality(state: state, lateSeconds: late))
  }

  @Test("the definition sets the grace, the time of arrival, and what is accepted")
  func rule() {
    let strict = Definition.Window(graceSeconds: 0, arrivalSeconds: 100, late: .refuse)
    #expect(Self.judge(recorded: 301, arrived: 301, strict) == Punctuality(state: .late, lateSeconds: 1))
    #expect(Self.judge(recorded: 10, arrived: 401, strict) == Punctuality(state: .late, lateSeconds: 101))
    #expect(!strict.accepts(Punctuality(state: .late, lateSeconds: 1)) && strict.accepts(nil))
    #expect(strict.accepts(Punctuality(state: .outside)) && strict.accepts(Punctuality(state: .onTime)))
  }
}
