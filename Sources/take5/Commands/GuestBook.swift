import Model
import Postgres
import Rooms

extension Subcommand {
  static let guestbookList = Subcommand(
    "guestbook list", abstract: "List what users have written into the guest book of a place, newest first.",
    operands: ["PLACE"],
    options: [
      Option(
        "--limit", "N", .integer(1...PageRequest.limits.upperBound), default: "50", help: "maximum number of entries")
    ] + Option.storeAccess, example: "take5 guestbook list brandenburg-gate"
  ) { arguments in
    let page = PageRequest(limit: try arguments.number("--limit") ?? 50)
    let (entries, count) = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { try GuestBook.list(of: arguments.operands[0], for: .unrestricted, page, $0) }
    }
    if arguments.has("--json") {
      for entry in entries.items { try Console.print(try JSON.text(entry)) }
    } else {
      var table = TextTable("ENTRY", "AUTHOR", "CREATED", "TEXT")
      for entry in entries.items { table.add("\(entry.id)", entry.author, JSON.text(of: entry.createdAt), entry.text) }
      for line in table.lines { try Console.print(line) }
      try Console.print("\(count) in all")
    }
    return .success
  }
}
