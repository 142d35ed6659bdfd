import Testing

@testable import bench

@Suite("Statistics and numbers")
struct StatisticsTests {
  @Test(
    "the median is the middle one, or between the two in the middle",
    arguments: [([3], 3), ([9, 1, 4], 4), ([1, 10, 2, 4], 3)] as [([Double], Double)])
  func median(values: [Double], median: Double) {
    let statistics = Statistics(values)
    #expect(statistics.median == median)
    #expect(statistics.least == values.min())
    #expect(statistics.greatest == values.max())
  }

  @Test(
    "a percentile is the least number that so many do not exceed",
    arguments: [(50, 200), (95, 380), (99, 396), (100, 400), (0, 1)] as [(Int, Double)])
  func percentile(percent: Int, number: Double) {
    #expect(Statistics((1...400).reversed().map(Double.init)).percentile(percent) == number)
    #expect(Statistics([7]).percentile(percent) == 7)
  }

  @Test(
    "numbers are rounded and keep their zeros",
    arguments: [
      (0.9996, 3, "1.000"), (-0.00065, 5, "-0.00065"), (-0.0001, 3, "0.000"), (12.05, 1, "12.1"), (7.5, 0, "8"),
      (-1.5, 2, "-1.50"),
    ] as [(Double, Int, String)])
  func text(number: Double, decimals: Int, text: String) {
    #expect(number.text(decimals: decimals) == text)
  }

  @Test("a goal is met at its limit")
  func goals() {
    #expect(Goal.atMost(0.92).isMet(by: 0.92))
    #expect(!Goal.atMost(0.92).isMet(by: 0.921))
    #expect(Goal.atLeast(0).isMet(by: 0))
    #expect(!Goal.atLeast(0).isMet(by: -0.00001))
  }
}
