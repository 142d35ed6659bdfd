internal import MediaProcess
internal import Model
internal import Platform

/// Compares a request to a running fork server, which forks a confined child for it, with the same request to a process
/// that is started for it, without walls. The request is the probe of a small clip, which does almost nothing.
struct ForkComparison: Measurement {
  let figure: Figure
  private let value: @Sendable (Cost) -> Double
  private let limits: Limits

  /// The requests of each kind in a pair.
  private static let requests = 20

  init(_ figure: Figure, of value: @escaping @Sendable (Cost) -> Double, limits: Limits) {
    self.figure = figure
    self.value = value
    self.limits = limits
  }

  func measure(on workbench: Workbench) async throws -> Finding {
    let clip = try workbench.footage.reduced(in: workbench.folder, by: workbench.programs).front
    var pairs: [(fork: Double, start: Double)] = []
    for pair in 0..<workbench.pairs {
      Console.progress("\(figure.name): pair \(pair + 1) of \(workbench.pairs)")
      if pair % 2 == 0 {
        let first = try await fork(clip, workbench.programs)
        pairs.append((first, try await start(clip, workbench.programs)))
      } else {
        let first = try await start(clip, workbench.programs)
        pairs.append((try await fork(clip, workbench.programs), first))
      }
    }
    return Finding(
      figure, pairs.map { $0.fork / $0.start },
      details: [
        Finding.Detail("fork, ms", pairs.map { $0.fork * 1000 }, decimals: 2),
        Finding.Detail("start, ms", pairs.map { $0.start * 1000 }, decimals: 2),
      ])
  }

  /// The cost of a request to a server that has served one before.
  private func fork(_ clip: String, _ programs: Programs) async throws -> Double {
    let first = try await Cost.measuring { try await probe(clip, times: 1, programs, .available) }
    let all = try await Cost.measuring { try await probe(clip, times: 1 + Self.requests, programs, .available) }
    return (value(all) - value(first)) / Double(Self.requests)
  }

  /// The cost of a request to a process that starts for it.
  private func start(_ clip: String, _ programs: Programs) async throws -> Double {
    let all = try await Cost.measuring {
      for _ in 0..<Self.requests { try await probe(clip, times: 1, programs, .off) }
    }
    return value(all) / Double(Self.requests)
  }

  /// Starts a server, probes a clip, and ends the server.
  private func probe(_ clip: String, times: Int, _ programs: Programs, _ sandbox: SandboxMode) async throws {
    let file = OpenFile(try Descriptor(reading: clip))
    var configuration = MediaProcess.Configuration(executable: programs.media)
    configuration.sandbox = sandbox
    let media = try MediaProcess(name: "media", configuration: configuration)
    for _ in 0..<times {
      let verdict = try await media.process(
        [.front: file], limits: limits, deadline: .seconds(60), cancellation: CancellationFlag(), plan: { _ in nil }
      ).verdict
      guard verdict.reasons.isEmpty else { throw BenchError("\(clip) is refused: \(verdict.reasons)") }
    }
    await media.stop()
  }
}
