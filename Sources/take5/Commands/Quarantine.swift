import Blobs
import Crypto
import Model
import Postgres
import Store

extension Subcommand {
  static let quarantineList = Subcommand(
    "quarantine list",
    abstract: "List the quarantined media, newest first: the service refuses them, because they broke media processes.",
    options: Option.storeAccess, example: "take5 quarantine list"
  ) { arguments in
    let reports = try await DatabaseAccess.use(arguments) { pool in
      try await quarantined("", pool).map { QuarantineReport($0) }
    }
    if arguments.has("--json") {
      for report in reports { try Console.print(try JSON.text(report)) }
    } else if reports.isEmpty {
      try Console.print("nothing is quarantined")
    } else {
      for line in QuarantineReport.lines(reports) { try Console.print(line) }
    }
    return .success
  }

  static let quarantineShow = Subcommand(
    "quarantine show", abstract: "Show quarantined media with the facts of the crash and the commands that repeat it.",
    operands: ["HASH"], options: Option.storeAccess, example: "take5 quarantine show 5f2b9c01"
  ) { arguments in
    let prefix = try hashPrefix(arguments)
    let report = try await DatabaseAccess.use(arguments) { pool in QuarantineReport(try await find(prefix, pool)) }
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.text)
    return .success
  }

  static let quarantineExport = Subcommand(
    "quarantine export",
    abstract: "Write the files of quarantined media, the definition and the facts, to repeat the crash elsewhere.",
    operands: ["HASH"],
    options: [
      Option("--to", "DIR", help: "folder for the files, which replace no others; it is created if it does not exist")
    ] + Option.storeAccess,
    example: "take5 quarantine export 5f2b9c01 --to crash"
  ) { arguments in
    let prefix = try hashPrefix(arguments)
    guard let folder = arguments.value("--to") else {
      throw CommandFailure(.usage, "no output given", remedy: "name a folder with --to DIR")
    }
    let report = try await StoreIntegrity.use(arguments) { integrity in
      let media = try await find(prefix, integrity.pool)
      let definition = try await integrity.pool.run { session in try Quarantine.definition(of: media, session) }
      return try QuarantineExport.write(media, definition: definition, from: integrity.blobs, to: folder)
    }
    try Console.print(arguments.has("--json") ? try JSON.text(report) : report.command)
    return .success
  }

  static let quarantineRelease = Subcommand(
    "quarantine release",
    abstract: "Release quarantined media: they may be submitted again, and their files are removed.",
    operands: ["HASH"], options: Option.storeAccess, example: "take5 quarantine release 5f2b9c01"
  ) { arguments in
    let prefix = try hashPrefix(arguments)
    let hash = try await DatabaseAccess.use(arguments) { pool in
      let media = try await find(prefix, pool)
      guard
        try await pool.transaction({ session in try Quarantine.release(media, session) })
      else { throw notQuarantined(prefix) }
      return media.hash.hex
    }
    try Console.print(
      arguments.has("--json") ? #"{"hash":"\#(hash)","released":true}"# : "\(hash) is released")
    return .success
  }

  /// Reads the operand: at least 8 digits, so that one hash begins with them.
  private static func hashPrefix(_ arguments: Arguments) throws(CommandFailure) -> String {
    let text = arguments.operands[0].lowercased()
    guard 8...64 ~= text.utf8.count, text.utf8.allSatisfy("0123456789abcdef".utf8.contains) else {
      throw CommandFailure(
        .usage, "'\(arguments.operands[0])' is not the beginning of a hash",
        remedy: "pass 8 to 64 hexadecimal digits, as 'take5 quarantine list' prints them")
    }
    return text
  }

  private static func quarantined(_ prefix: String, _ pool: Pool) async throws -> [QuarantinedMedia] {
    try await pool.run { session in
      try session.snapshot { session in try Quarantine.list(prefix: prefix, session) }
    }
  }

  private static func find(_ prefix: String, _ pool: Pool) async throws -> QuarantinedMedia {
    let found = try await quarantined(prefix, pool)
    guard let media = found.first else { throw notQuarantined(prefix) }
    guard found.count == 1 else {
      throw CommandFailure(
        .usage, "\(found.count) hashes begin with \(prefix): \(found.map(\.hash.hex).joined(separator: ", "))",
        remedy: "pass more digits")
    }
    return media
  }

  private static func notQuarantined(_ prefix: String) -> CommandFailure {
    CommandFailure(
      .inputMissing, "\(prefix) is not quarantined", remedy: "'take5 quarantine list' lists the quarantined media")
  }
}
