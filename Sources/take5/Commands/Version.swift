import MediaProcess
import Model
import Platform

extension Subcommand {
  static let version = Subcommand(
    "version", abstract: "Print the version of take5 and of its libraries.", options: [.json],
    example: "take5 version"
  ) { arguments in
    let slot = try MediaProcess(name: "media", configuration: MediaProcess.Configuration())
    let libraries = try await slot.libraryVersions()
    await slot.stop()
    let versions = Versions(take5: ThisProcess.version, libraries: libraries)
    try Console.print(arguments.has("--json") ? try JSON.text(versions) : versions.text)
    return .success
  }
}

/// The versions of take5 and of the media libraries.
private struct Versions: Encodable {
  let take5: String
  let libraries: [String: String]

  /// One line for each version.
  var text: String {
    (["take5 \(take5)"] + libraries.sorted { $0.key < $1.key }.map { "  \($0.key) \($0.value)" })
      .joined(separator: "\n")
  }
}
