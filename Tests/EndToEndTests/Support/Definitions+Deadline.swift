import Definitions
import Model
import Platform
import PostgresTesting

extension Definitions {
  /// Writes the shipped definition with another deadline; returns its path.
  static func withDeadline(seconds: Int, in folder: TemporaryFolder) throws -> String {
    var definition = try take5Post()
    definition.deadlineSeconds = seconds
    return try Clips.write(try JSON.encode(definition), "deadline-\(seconds).json", in: folder)
  }
}
