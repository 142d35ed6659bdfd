import FoundationEssentials
import Model
import Postgres
import Rooms

extension Subcommand {
  static let devices = Subcommand(
    "devices", abstract: "Count the devices for notifications by provider and last outcome, or list a user's devices.",
    options: [Option("--user", "USER", help: "list the devices of this user")] + Option.storeAccess,
    example: "take5 devices --user ada"
  ) { arguments in
    let report = try await DatabaseAccess.use(arguments) { pool in
      try await pool.run { session in
        if let user = arguments.value("--user") {
          let devices = try Devices.list(of: user, session)
          return DevicesReport(counts: nil, devices: devices.map { DeviceResponse($0, isWhole: false) })
        }
        return DevicesReport(counts: try Devices.counts(session), devices: nil)
      }
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    return .success
  }
}

/// What `take5 devices` prints.
private struct DevicesReport: Encodable {
  let counts: [Devices.Count]?
  let devices: [DeviceResponse]?

  var text: String {
    let lines = (counts ?? []).map { "\($0.provider)  \($0.outcome)  \($0.devices)" } + (devices ?? []).map(\.line)
    return lines.isEmpty ? "no devices" : lines.joined(separator: "\n")
  }
}
