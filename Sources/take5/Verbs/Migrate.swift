import Logging

extension Subcommand {
  static let migrate = Subcommand(
    "migrate", abstract: "Bring the schema of a store up to date; every other verb does it too.",
    options: [.data, .database, .pooling, .logLevel, .logFormat],
    example: "take5 migrate --database postgresql://localhost/take5"
  ) { arguments in
    let database = try await DatabaseAccess.open(arguments, connections: 1, log: try Logger(arguments))
    await database.close()
    try Console.print("the schema is up to date")
    return .done
  }
}
