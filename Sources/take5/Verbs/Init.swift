import Blobs
import Logging
import Model

extension Subcommand {
  static let `init` = Subcommand(
    "init", abstract: "Make a store: a database, its schema, and a folder of blobs; one that is there stays as it is.",
    options: [
      Option("--empty", help: "without schema and blobs: a PostgreSQL for a backup that is to be restored"),
      .data, .database, .pooling, .json,
    ],
    example: "take5 init --data .take5"
  ) { arguments in
    let isEmpty = arguments.has("--empty")
    let database = try await DatabaseAccess.open(
      arguments, connections: 1, migrating: !isEmpty, isMaking: true, log: Logger(lowest: .warning))
    if !isEmpty { _ = try await BlobFolder.open(arguments, database, isMaking: true) }
    await database.close()
    let data = arguments.value(Option.data.name) ?? ""
    if arguments.has("--json") {
      try Console.print(try JSON.text(InitAnswer(data: data, isNew: database.isNew)))
    } else if isEmpty {
      try Console.print("an empty database for the store in \(data)")
    } else {
      try Console.print(database.isNew ? "a new store in \(data)" : "there is a store in \(data) already")
    }
    return .done
  }
}

/// What `take5 init --json` prints.
private struct InitAnswer: Encodable {
  let data: String
  let isNew: Bool

  private enum CodingKeys: String, CodingKey {
    case data
    case isNew = "new"
  }
}
