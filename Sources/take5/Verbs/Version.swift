import MediaProcess
import Model

extension Subcommand {
  static let version = Subcommand(
    "version", abstract: "Tell which take5 this is, and which libraries it runs with.", options: [.json],
    example: "take5 version"
  ) { arguments in
    let versions = Versions.current
    try Console.print(arguments.has("--json") ? try JSON.text(versions) : versions.text)
    return .done
  }
}
