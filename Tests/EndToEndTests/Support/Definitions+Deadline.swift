import Definitions
import Model
import Platform
import PostgresTesting

extension Definitions {
  // Kept for the whole run: the services that were given the path read it once, when they start.
  private static let folder = try! TemporaryFolder()

  /// The path of the shipped definition with another deadline.
  static func withDeadline(seconds: Int) throws -> String {
    var definition = try take5Post()
    definition.deadlineSeconds = seconds
    return try Clips.write(try JSON.encode(definition), "deadline-\(seconds).json", in: folder)
  }
}
