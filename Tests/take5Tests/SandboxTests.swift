import MediaProcess
import Platform
import Telemetry
import Testing
import Worker

@testable import take5

@Suite("Option --sandbox")
struct SandboxTests {
  static func walls(down: [Wall]) -> [WallReport] {
    Wall.allCases.map { WallReport($0, isUp: !down.contains($0), detail: down.contains($0) ? "reason" : "fact") }
  }

  @Test("every command that decodes media has the option, and a service reads it from its variable")
  func reads() throws {
    let commands: [Subcommand] = [
      .serve, .worker, .validate, .inspect, .compose, .still, .photo, .verify, .reprocess, .reprocessResume,
    ]
    for command in commands { #expect(command.options.contains(.sandbox), "\(command.name)") }
    let environment = ["TAKE5_SANDBOX": "required"]
    let arguments = try Arguments([], of: .worker, environment: environment)
    #expect(try ServiceConfiguration([.sandbox], arguments).worker.media.sandbox == .required)
    let defaults = try Arguments([], of: .worker, environment: [:])
    #expect(try ServiceConfiguration([.sandbox], defaults).worker.media.sandbox == .available)
    let wrong = try Arguments(["--sandbox", "some"], of: .worker, environment: [:])
    #expect(throws: CommandFailure.self) { try ServiceConfiguration([.sandbox], wrong) }
  }

  @Test("required ends with status 78 and names each wall that is down; available and off do not")
  func required() throws {
    let down = Self.walls(down: [.network, .seccomp, .cgroup])
    let failure = #expect(throws: CommandFailure.self) { try Sandbox(.required, .success(down)) }
    #expect(failure?.status == .configuration && ExitStatus.configuration.rawValue == 78)
    let message = failure?.message ?? ""
    #expect(message.contains("network is down: reason") && message.contains("seccomp is down: reason"))
    #expect(!message.contains("cgroup"))
    for mode in [SandboxMode.available, .off] { #expect(try Sandbox(mode, .success(down)).walls == down) }
    #expect(try Sandbox(.required, .success(Self.walls(down: [.cgroup]))).mode == .required)
  }

  @Test("walls that cannot be measured are down")
  func unmeasured() throws {
    let failure = MediaFailure(.unavailable, "no process")
    #expect(throws: CommandFailure.self) { try Sandbox(.required, .failure(failure)) }
    let sandbox = try Sandbox(.available, .failure(failure))
    #expect(sandbox.walls.map(\.wall) == Wall.allCases)
    #expect(sandbox.walls.allSatisfy { !$0.isUp && $0.detail.contains("no process") })
  }

  @Test("a service warns once about each wall that is down, and has a metric for every wall")
  func report() throws {
    let lines = Locked<[String]>([])
    let log = Logger(format: .text) { line in lines.withLock { $0.append(line) } }
    let metrics = Metrics()
    try Sandbox(.available, .success(Self.walls(down: [.landlock, .user]))).report(to: log, metrics)
    let logged = lines.withLock { $0 }
    #expect(logged.count == 2 && logged.allSatisfy { $0.contains("warning") && $0.contains("reason=reason") })
    #expect(logged.first?.contains("wall=user") == true && logged.last?.contains("wall=landlock") == true)
    #expect(logged.allSatisfy { $0.contains("remedy=") })
    let text = metrics.text()
    for wall in Wall.allCases {
      let value = [.landlock, .user].contains(wall) ? 0 : 1
      #expect(text.contains("take5_sandbox_wall{wall=\"\(wall.rawValue)\"} \(value)\n"), "\(wall)")
    }
  }

  @Test("a cgroup that is down is a warning only where a unit could delegate it", arguments: [true, false])
  func cgroup(lacksDelegation: Bool) throws {
    let lines = Locked<[String]>([])
    let log = Logger(format: .text) { line in lines.withLock { $0.append(line) } }
    try Sandbox(.available, .success(Self.walls(down: [.cgroup]))).report(
      to: log, Metrics(), lacksDelegation: lacksDelegation)
    let logged = lines.withLock { $0 }
    #expect(logged.count == 1 && logged[0].contains("warning") == lacksDelegation, "\(logged)")
    #expect(logged[0].contains("Delegate=yes") == lacksDelegation && logged[0].contains("reason=reason"))
  }

  @Test("off is one warning")
  func off() throws {
    let lines = Locked<[String]>([])
    let log = Logger(format: .text) { line in lines.withLock { $0.append(line) } }
    let down = Self.walls(down: Wall.allCases.filter { $0 != .limits })
    try Sandbox(.off, .success(down)).report(to: log, Metrics())
    #expect(lines.withLock { $0.count } == 1 && lines.withLock { $0.first?.contains("sandbox=off") } == true)
  }
}
