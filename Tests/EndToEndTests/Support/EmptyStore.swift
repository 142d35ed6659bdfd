import Definitions
import Model
import Platform
import PostgresTesting
import Take5Testing

/// A store without content, which `take5 init` makes once in a run of the tests: to copy it takes a fiftieth of the time.
enum EmptyStore {
  private static let original = Task {
    let folder = try TemporaryFolder(prefix: "take5-store")
    folder.keepUntilExit()
    let made = try await Take5Command.run(["init", "--data", "\(folder.path)/data"])
    guard made.status == 0 else { throw EmptyStoreError(message: "take5 init failed: \(made.errors)") }
    var definition = try Definitions.small()
    _ = try Clips.write(try JSON.encode(definition), "small.json", in: folder)
    definition.look = .notMade
    _ = try Clips.write(try JSON.encode(definition), "unseen.json", in: folder)
    return folder
  }

  /// The path of the built-in definition with a sixteenth of the pixels: most tests look at none of them.
  static func smallDefinition() async throws -> String { "\(try await original.value.path)/small.json" }

  /// The options for the same definition without first looks: a test that kills the child of a job finds one child.
  static func withoutLooks() async throws -> [String] {
    ["--definition", "\(try await original.value.path)/unseen.json"]
  }

  /// Copies the store to a path where there is nothing yet.
  static func copy(to data: String) async throws {
    let folder = try await original.value
    let copied = try await Take5Command.run(["-a", "\(folder.path)/data", data], program: "/bin/cp")
    guard copied.status == 0 else { throw EmptyStoreError(message: "the store cannot be copied: \(copied.errors)") }
  }
}

private struct EmptyStoreError: Error, CustomStringConvertible {
  let message: String

  var description: String { message }
}
