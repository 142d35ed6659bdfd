import FoundationEssentials
import MediaProcess
import Model
import Queue
import Testing
import Worker

@testable import take5

@Suite("Arguments")
struct ArgumentsTests {
  static let command = Subcommand(
    "thing", abstract: "Do a thing.", operands: ["FRONT", "[BACK]"],
    options: [
      Option("--data", "DIR", variable: "TAKE5_DATA", default: ".take5", help: ""),
      Option("--output", "FILE", short: "-o", help: ""),
      Option("--count", "N", .integer(1...10), variable: "TAKE5_COUNT", help: ""),
      Option("--json", help: ""),
    ], example: ""
  ) { _ in .success }

  @Test("an option takes precedence over its variable, and the variable over the default")
  func precedence() throws {
    let environment = ["TAKE5_DATA": "/variable"]
    #expect(try Arguments(["a"], of: Self.command, environment: [:]).value("--data") == ".take5")
    #expect(try Arguments(["a"], of: Self.command, environment: environment).value("--data") == "/variable")
    let both = try Arguments(["a", "--data", "/option"], of: Self.command, environment: environment)
    #expect(both.value("--data") == "/option")
    #expect(try Arguments(["a"], of: Self.command, environment: ["TAKE5_DATA": ""]).value("--data") == ".take5")
  }

  @Test("values follow a space or an equals sign, switches have none, operands can be anywhere")
  func forms() throws {
    let arguments = try Arguments(
      ["-o", "x", "front", "--data=y=z", "--json", "--", "--back"], of: Self.command, environment: [:])
    #expect(arguments.value("--output") == "x")
    #expect(arguments.value("--data") == "y=z")
    #expect(arguments.has("--json"))
    #expect(arguments.operands == ["front", "--back"])
  }

  @Test(
    "wrong arguments are refused with status 64 and a hint",
    arguments: [
      [], ["a", "b", "c"], ["a", "--unknown"], ["a", "--data"], ["a", "--json=yes"], ["a", "--count", "x"],
      ["a", "--count", "11"],
    ])
  func wrong(arguments: [String]) {
    let failure = #expect(throws: CommandFailure.self) {
      _ = try Arguments(arguments, of: Self.command, environment: [:]).number("--count")
    }
    #expect(failure?.status == .usage)
    #expect(failure?.remedy != nil)
  }
}

@Suite("Options of a worker")
struct WorkerOptionTests {
  @Test("serve and worker read the same options")
  func reads() throws {
    let given = [
      "--slots", "4", "--media-memory", "64", "--background-slots", "2", "--grace", "3", "--lease", "6", "--drain", "5",
    ]
    for command in [Subcommand.serve, .worker] {
      let arguments = try Arguments(given, of: command, environment: ["TAKE5_POLL": "0.5"])
      let configuration = try ServiceConfiguration(command.options, arguments).worker
      #expect(configuration.slots == 4 && configuration.backgroundSlots == 2)
      #expect(configuration.media.memoryLimit == 64 << 20 && !configuration.media.isPortable)
      #expect(configuration.grace == .seconds(3))
      let queue = configuration.queue
      #expect(queue.lease == .seconds(6) && queue.drain == .seconds(5) && queue.pollInterval == .milliseconds(500))
      // A lost worker is found within its lease.
      #expect(queue.reapInterval == .seconds(2))
    }
  }
}

@Suite("Job filters")
struct JobFilterTests {
  private func arguments(_ arguments: [String]) throws -> Arguments {
    try Arguments(arguments, of: .jobsList, environment: [:])
  }

  @Test("times are in RFC 3339, days in UTC, or durations before now")
  func times() throws {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    for (text, seconds) in [("45s", 45.0), ("30m", 1800), ("2h", 7200), ("7d", 604_800), ("1w", 604_800), ("0s", 0)] {
      #expect(try arguments(["--created-after", text]).time("--created-after", now: now) == now - seconds, "\(text)")
    }
    let exact = try arguments(["--created-after", "2027-01-15T08:00:00Z"]).time("--created-after", now: now)
    #expect(exact == now)
    let day = try arguments(["--created-after", "2027-01-15"]).time("--created-after", now: now)
    #expect(day == now - 8 * 3600)
    for wrong in ["yesterday", "2", "h", "-2h", "2y", "1.5h", "", "2027-13-01", "2027-02-30", "2027-01"] {
      let wrong = try arguments(["--created-after", wrong])
      #expect(throws: CommandFailure.self) { try wrong.time("--created-after", now: now) }
    }
  }

  @Test("states are a comma-separated list")
  func states() throws {
    #expect(try arguments(["--state", "dead,scheduled"]).choices("--state", of: JobState.self) == [.dead, .scheduled])
    #expect(try arguments([]).choices("--state", of: JobState.self).isEmpty)
    let wrong = try arguments(["--state", "dead,,gone"])
    #expect(throws: CommandFailure.self) { try wrong.choices("--state", of: JobState.self) }
  }

  @Test("columns have the width of their longest cell, and numbers are right-aligned")
  func table() {
    var table = TextTable("NAME", "JOBS")
    table.add("media", "7")
    table.add("a", "1234567")
    #expect(table.lines == ["NAME      JOBS", "media        7", "a      1234567"])
  }

  @Test(
    "durations as text",
    arguments: [(0.345, "0.35 s"), (42, "42 s"), (303, "5m 3s"), (7800, "2h 10m"), (273_600, "3d 4h")])
  func durations(seconds: Double, text: String) {
    #expect(DurationText.text(seconds) == text)
  }
}

@Suite("Listen addresses")
struct ListenAddressTests {
  @Test(
    "loopback addresses are distinguished from addresses that other machines can reach",
    arguments: [
      ("127.0.0.1:8080", true), ("localhost:1", true), ("[::1]:80", true), (":8080", true), ("127.9.9.9:1", true),
      ("0.0.0.0:8080", false), ("[::]:80", false), ("192.168.1.2:80", false), ("127.example.com:80", false),
      ("example.com:80", false),
    ])
  func loopback(text: String, isLoopback: Bool) throws {
    #expect(try #require(ListenAddress(text)).isLoopback == isLoopback)
  }

  @Test("invalid addresses are refused", arguments: ["", "8080", "host", "host:", "host:port", "host:70000"])
  func refuses(text: String) {
    #expect(ListenAddress(text) == nil)
  }

  @Test("an address is formatted as a URL")
  func url() throws {
    #expect(try #require(ListenAddress("[::1]:0")).url(port: 5) == "http://[::1]:5")
  }
}
