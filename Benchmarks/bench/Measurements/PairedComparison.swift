internal import Platform

/// Runs two contestants alternately, so that a slower minute affects both, and divides pair by pair.
struct PairedComparison: Measurement {
  let figure: Figure
  private let quantity: Quantity
  private let ours: any Contestant
  private let peer: any Contestant

  init(_ figure: Figure, of quantity: Quantity, _ ours: any Contestant, to peer: any Contestant) {
    self.figure = figure
    self.quantity = quantity
    self.ours = ours
    self.peer = peer
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let (our, their) = (try workbench.prepared(ours), try workbench.prepared(peer))
    var pairs: [(our: Double, their: Double)] = []
    for index in 0..<workbench.pairs {
      Console.progress("\(figure.name): pair \(index + 1) of \(workbench.pairs)")
      // The order alternates, because the second run may profit from the first.
      if index % 2 == 0 {
        let first = try quantity.measure(our)
        pairs.append((first, try quantity.measure(their)))
      } else {
        let first = try quantity.measure(their)
        pairs.append((try quantity.measure(our), first))
      }
    }
    return Finding(
      figure, pairs.map { $0.our / $0.their },
      details: [
        Finding.Detail("\(ours.title), \(quantity.unit)", pairs.map(\.our), decimals: 2),
        Finding.Detail("\(peer.title), \(quantity.unit)", pairs.map(\.their), decimals: 2),
      ])
  }
}

/// The quantity that a comparison measures.
enum Quantity: Sendable {
  /// User and system time of all processes, in seconds.
  case processor
  /// Elapsed time, in seconds.
  case clock
  /// The peak memory of all processes together, in MiB. Sampling it takes time, so no time is measured in the same run.
  case memory

  /// The unit in tables.
  var unit: String {
    switch self {
    case .processor: "CPU s"
    case .clock: "s elapsed"
    case .memory: "MiB"
    }
  }

  /// Runs the commands and returns the measured value.
  func measure(_ contestant: PreparedContestant) throws -> Double {
    switch self {
    case .processor: try Cost.measuring(contestant.commands).processor - contestant.uncounted()
    case .clock: try Cost.measuring(contestant.commands).elapsed
    case .memory: Double(try PeakMemory.measuring(contestant.commands)) / Double(1 << 20)
    }
  }
}

/// Compares the sizes of two composed videos.
struct SizeComparison: Measurement {
  let figure: Figure
  private let ours: any Contestant
  private let peer: any Contestant

  init(_ figure: Figure, of ours: any Contestant, to peer: any Contestant) {
    self.figure = figure
    self.ours = ours
    self.peer = peer
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let our = try Self.bytes(of: workbench.prepared(ours))
    let their = try Self.bytes(of: workbench.prepared(peer))
    return Finding(
      figure, [our / their],
      details: [
        Finding.Detail("\(ours.title), kB", [our / 1000], decimals: 0),
        Finding.Detail("\(peer.title), kB", [their / 1000], decimals: 0),
      ])
  }

  private static func bytes(of contestant: PreparedContestant) throws -> Double {
    Double(try Descriptor(reading: contestant.composed()).size())
  }
}

/// Compares the moments per minute of the entire service with one worker and with two, alternately.
struct ThroughputComparison: Measurement {
  let figure: Figure

  /// The moments of a round, enough to keep two workers busy most of the time.
  private static let moments = 4

  init(_ figure: Figure) { self.figure = figure }

  func measure(on workbench: Workbench) throws -> Finding {
    // A round takes half a minute or more, and its rate is already a mean.
    let rounds = max(1, workbench.pairs / 3)
    Console.progress("\(figure.name): starting two services")
    let program = workbench.programs.take5
    let one = try RunningService(program, workers: 1, log: "\(workbench.folder)/service-1.log")
    let two = try RunningService(program, workers: 2, log: "\(workbench.folder)/service-2.log")
    // Starts the media process of each worker before the measurement.
    _ = try one.momentsPerMinute(1, of: workbench.footage)
    _ = try two.momentsPerMinute(2, of: workbench.footage)

    var pairs: [(one: Double, two: Double)] = []
    for round in 0..<rounds {
      Console.progress("\(figure.name): round \(round + 1) of \(rounds)")
      func rate(_ service: RunningService) throws -> Double {
        try service.momentsPerMinute(Self.moments, of: workbench.footage)
      }
      if round % 2 == 0 {
        let first = try rate(one)
        pairs.append((first, try rate(two)))
      } else {
        let first = try rate(two)
        pairs.append((try rate(one), first))
      }
    }
    try one.stop()
    try two.stop()
    return Finding(
      figure, pairs.map { $0.two / $0.one },
      details: [
        Finding.Detail("one worker, moments/min", pairs.map(\.one), decimals: 1),
        Finding.Detail("two workers, moments/min", pairs.map(\.two), decimals: 1),
      ])
  }
}
