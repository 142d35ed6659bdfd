import Crypto
import Model
import Platform

/// A media file named on the command line.
struct InputFile: ~Copyable {
  let name: InputName
  let descriptor: Descriptor

  /// Opens the file; status 66 if there is none.
  init(_ name: InputName, path: String) throws(CommandFailure) {
    do {
      descriptor = try Descriptor(reading: path)
    } catch {
      throw CommandFailure(
        .inputMissing, "\(path) cannot be read: \(error)", remedy: "check the path and that you may read the file")
    }
    self.name = name
  }
}
