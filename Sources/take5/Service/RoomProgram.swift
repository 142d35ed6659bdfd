import Store
import Telemetry

/// What a room brings to the program besides its part of the API.
struct RoomProgram: Sendable {
  /// In the order of the help.
  let commands: [Subcommand]
  /// The options that workers take for the room; each sets a property of the configuration.
  let workerOptions: [Option]
  /// What sends to its receivers outside; nil: it has none.
  let courier: (@Sendable (ServiceConfiguration, Logger) -> any Courier)?

  init(
    commands: [Subcommand], workerOptions: [Option] = [],
    courier: (@Sendable (ServiceConfiguration, Logger) -> any Courier)? = nil
  ) {
    self.commands = commands
    self.workerOptions = workerOptions
    self.courier = courier
  }
}
