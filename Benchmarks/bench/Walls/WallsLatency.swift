internal import MediaProcess
internal import Model
internal import Platform

/// The milliseconds that walls add to a moment in the service: two services with warm fork servers take turns.
///
/// The walls cost a fixed time for each request, and the fraction of CPU that another figure compares. A moment of full
/// size takes seconds, and scatters by more than the fixed time: these moments are small.
struct WallsLatency: Measurement {
  let figure: Figure
  private let definition: Definition

  /// The moments of each service in a pair.
  private static let moments = 10

  /// - Parameter definition: of which the moments get small outputs.
  init(_ figure: Figure, _ definition: Definition) {
    self.figure = figure
    self.definition = definition.scaled(toWidth: 180).encoded(Definition.VideoEncoding(preset: "ultrafast", crf: 30))
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let footage = try workbench.footage.reduced(in: workbench.folder, by: workbench.programs)
    let description = "\(workbench.folder)/walls-definition.json"
    try Descriptor(writing: description, replacing: true).write(JSON.encode(definition))
    Console.progress("\(figure.name): starting two services")
    func start(_ sandbox: SandboxMode) throws -> RunningService {
      let service = try RunningService(
        workbench.programs.take5, workers: 1, log: "\(workbench.folder)/walls-\(sandbox.rawValue).log",
        more: ["--definition", description, "--sandbox", sandbox.rawValue])
      // The first moment starts the fork server.
      _ = try service.latency(of: footage)
      return service
    }
    let confined = try start(.available)
    let unconfined = try start(.off)

    var pairs: [(confined: Double, unconfined: Double)] = []
    for pair in 0..<workbench.pairs {
      Console.progress("\(figure.name): pair \(pair + 1) of \(workbench.pairs)")
      var times: (confined: [Double], unconfined: [Double]) = ([], [])
      for moment in 0..<Self.moments {
        if moment % 2 == 0 { times.confined.append(try confined.latency(of: footage)) }
        times.unconfined.append(try unconfined.latency(of: footage))
        if moment % 2 != 0 { times.confined.append(try confined.latency(of: footage)) }
      }
      pairs.append((Statistics(times.confined).median, Statistics(times.unconfined).median))
    }
    try confined.stop()
    try unconfined.stop()
    return Finding(
      figure, pairs.map { $0.confined - $0.unconfined },
      details: [
        Finding.Detail("take5, ms", pairs.map(\.confined), decimals: 1),
        Finding.Detail("without walls, ms", pairs.map(\.unconfined), decimals: 1),
      ])
  }
}
