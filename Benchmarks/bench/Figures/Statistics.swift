/// Numbers of several runs, summed up.
struct Statistics: Sendable {
  private let sorted: [Double]

  /// At least one number.
  init(_ values: [Double]) { sorted = values.sorted() }

  var count: Int { sorted.count }
  var least: Double { sorted[0] }
  var greatest: Double { sorted[sorted.count - 1] }

  /// The least of the numbers that at least so many in a hundred of them do not exceed (the nearest-rank method).
  func percentile(_ percent: Int) -> Double { sorted[max(0, (sorted.count * percent + 99) / 100 - 1)] }

  /// The middle one, or the mean of the two in the middle.
  var median: Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
