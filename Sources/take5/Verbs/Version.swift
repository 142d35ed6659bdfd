import MediaProcess
import Model

extension Verb {
  static let version = Verb(
    "version", abstract: "Tell which take5 this is, and which libraries it runs with.", options: [.json],
    example: "take5 version"
  ) { arguments in
    let versions = Versions.current
    try Console.print(arguments.has("--json") ? try JSON.text(versions) : versions.text)
    return .done
  }
}
