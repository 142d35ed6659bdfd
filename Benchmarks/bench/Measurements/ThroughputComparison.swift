/// How many moments a minute the whole service finishes, with one worker and with two, in turns.
struct ThroughputComparison: Measurement {
  let figure: Figure

  /// Moments in a round: enough that both workers of two are busy most of the time.
  private static let moments = 4

  init(_ figure: Figure) { self.figure = figure }

  func measure(on workbench: Workbench) throws -> Finding {
    // A round takes half a minute or more, and its rate is a mean already.
    let rounds = max(1, workbench.pairs / 3)
    Console.progress("\(figure.name): starting two services")
    let program = workbench.programs.take5
    let one = try RunningService(program, workers: 1, log: "\(workbench.folder)/service-1.log")
    let two = try RunningService(program, workers: 2, log: "\(workbench.folder)/service-2.log")
    // Each worker has its media process running before anything is measured.
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
        Finding.Detail("one worker, moments a minute", pairs.map(\.one), decimals: 1),
        Finding.Detail("two workers, moments a minute", pairs.map(\.two), decimals: 1),
      ])
  }
}
