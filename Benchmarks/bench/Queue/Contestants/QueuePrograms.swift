import Glibc
internal import Platform
internal import Postgres

/// The programs of all contestants, written down where Python finds them.
struct QueuePrograms: Sendable {
  private let bench: String
  private let python: String
  private let folder: String

  /// - Parameters:
  ///   - environment: the folder of the Python environment that has the peers.
  ///   - folder: where the scripts and the logs are put.
  init(environment: String, folder: String) throws {
    bench = try Folder.resolved(ThisProcess.executable)
    python = "\(environment)/bin/python"
    self.folder = folder
    guard access(python, X_OK) == 0 else {
      throw BenchError("there is no \(python); 'make bench-queue' installs what is missing")
    }
    let scripts = [
      "contest": PackageResources.contest_py, "peer_pgqueuer": PackageResources.peer_pgqueuer_py,
      "peer_procrastinate": PackageResources.peer_procrastinate_py, "peer_awa": PackageResources.peer_awa_py,
    ]
    for (name, script) in scripts { try Descriptor(writing: "\(folder)/\(name).py", replacing: true).write(script) }
  }

  /// The command that has a contestant do something.
  ///
  /// - Parameter count: a number of jobs.
  func command(
    _ contestant: QueueContestant, _ measure: QueueMeasure, _ count: Int, in database: DatabaseURL
  ) -> Command {
    let settings =
      switch measure {
      case .drain: contestant.drain
      case .worker, .claims: contestant.worker
      default: [String]()
      }
    let words = [measure.rawValue, "\(count)"] + settings
    let log = "\(folder)/\(contestant.name).\(measure.rawValue).log"
    switch contestant.program {
    case .bench:
      return Command(path: bench, arguments: [QueueProcess.word] + words, log: log, environment: database.environment)
    case .script(let name):
      return Command(
        path: python, arguments: ["\(folder)/\(name).py"] + words, log: log, environment: database.environment)
    }
  }
}
