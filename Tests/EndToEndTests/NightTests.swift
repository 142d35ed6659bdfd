import Glibc
import HTTPServer
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// What docs/operations.md says of a service that does not start, and of alerts.
@Suite("Operations at night", .tags(.process))
struct NightTests {
  /// The rows of the table below a heading, each with its cells.
  private static func rows(below heading: String) throws -> [[String]] {
    let lines = try Document("docs/operations.md").text.split(separator: "\n").drop { $0 != "## \(heading)" }
      .dropFirst()
    return lines.prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }.dropFirst().map { line in
      // The first and the last bar have nothing before and behind them.
      line.dropFirst(2).dropLast(2).split(separator: " | ").map(String.init)
    }
  }

  /// The texts in backticks.
  private static func quoted(_ text: String) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }

  @Test("each shipped alert has its entry with three commands, and each alert of an entry is shipped")
  func alerts() throws {
    let rules = try Document("Sources/Packaging/prometheus/take5.rules.yml").text
    let shipped = rules.matches(of: /- alert: (\w+)/).map { String($0.1) }
    let rows = try Self.rows(below: "An alert fires")
    let documented = rows.flatMap { Self.quoted($0[0]) }
    #expect(shipped.count > 20 && documented.sorted() == shipped.sorted())
    for row in rows { #expect(row.count == 3 && Self.quoted(row.last ?? "").count >= 3, "\(row)") }
  }

  @Test("each command of take5 in the entries exists, with its options")
  func commands() async throws {
    let all = try await CommandHelp.all()
    let programs = [
      "curl", "df", "findmnt", "journalctl", "ss", "sudo", "systemctl", "tail", "timedatectl", "uname", "uptime",
    ]
    let cells = try ["An alert fires", "The service does not start"].flatMap { try Self.rows(below: $0) }.flatMap { $0 }
    let texts = cells.flatMap(Self.quoted).filter { $0.contains(" ") }
    #expect(texts.count > 60)
    for text in texts {
      let words = text.split(separator: " ").map(String.init)
      guard words.first == "take5" else {
        #expect(programs.contains(words.first ?? "") || text.hasPrefix("--"), "\(text)")
        continue
      }
      let rest = Array(words.dropFirst())
      let command = all.filter { rest.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
      guard let command else {
        Issue.record("unknown command: \(text)")
        continue
      }
      // What follows `--` is another program's.
      for option in rest.prefix(while: { $0 != "--" }) where option.hasPrefix("--") {
        #expect(command.options.contains { $0.name == option }, "\(text)")
      }
    }
  }

  /// A service that cannot start, with the status with which it ends.
  enum Fault: Int32, CaseIterable {
    case noKey = 64
    case otherProgram = 69
    case otherStore = 74
    case configuration = 78
  }

  @Test("each way in which a service does not start ends with the status that its row has", arguments: Fault.allCases)
  func statuses(fault: Fault) async throws {
    let folder = try TemporaryFolder(prefix: "take5-night")
    let data = "\(folder.path)/data"
    let address = "127.0.0.1:0"
    let run: Take5Command
    switch fault {
    case .noKey:
      run = try await Take5Command.run([
        "serve", "--data", data, "--listen", address, "--slots", "0", "--trusted-proxy", "127.0.0.1",
      ])
      #expect(run.errors.contains("--trusted-proxy is set") && run.errors.contains("take5 keys create"), "\(run)")
    case .otherProgram:
      let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
      run = try await Take5Command.run(["serve", "--data", data, "--listen", "127.0.0.1:\(socket.port)"])
      _ = consume socket
    case .otherStore:
      let other = "\(folder.path)/other"
      for store in [data, other] { #expect(try await Take5Command.run(["init", "--data", store]).status == 0) }
      try Folder.remove("\(data)/blobs")
      #expect(rename("\(other)/blobs", "\(data)/blobs") == 0)
      run = try await Take5Command.run(["serve", "--data", data, "--listen", address, "--slots", "0"])
    case .configuration:
      let file = "\(folder.path)/take5.conf"
      try Descriptor(writing: file, replacing: false).write(Array("slots = many\n".utf8))
      run = try await Take5Command.run(["serve", "--data", data, "--listen", address, "--config", file])
    }
    #expect(run.status == fault.rawValue && run.errors.contains("take5: "), "\(run)")
    let rows = try Self.rows(below: "The service does not start")
    let row = rows.first { $0[0].split(separator: ",").contains("\(fault.rawValue)") }
    #expect(row?.count == 4)
    // Those that systemd does not repeat are those of the unit.
    let unit = try Document("Sources/Packaging/take5.service").text
    let prevented = unit.matches(of: /RestartPreventExitStatus=(.*)/).flatMap { $0.1.split(separator: " ") }
    #expect(prevented.contains("\(fault.rawValue)") == (row?[3].contains("waits for you") == true), "\(row ?? [])")
  }
}
