/// What a run is compared by.
enum Quantity: Sendable {
  /// User and system time of all processes, in seconds.
  case processor
  /// Time by the clock, in seconds.
  case clock
  /// The most memory of all processes together, in MiB; measuring it costs time, which therefore is not measured.
  case memory

  /// Of its numbers, for tables.
  var unit: String {
    switch self {
    case .processor: "CPU s"
    case .clock: "s by the clock"
    case .memory: "MiB"
    }
  }

  /// Runs it and measures.
  func measure(_ workplace: Workplace) throws -> Double {
    switch self {
    case .processor: try Cost.measuring(workplace.commands).processor - workplace.uncounted()
    case .clock: try Cost.measuring(workplace.commands).elapsed
    case .memory: Double(try PeakMemory.measuring(workplace.commands)) / Double(1 << 20)
    }
  }
}
