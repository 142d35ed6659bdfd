import Glibc
import Platform

/// A folder that files are written to; one that was made for them goes again if none came.
struct OutputFolder: ~Copyable {
  let path: String
  private let isMade: Bool

  /// Makes the folder if it is missing; status 74 if it cannot be made.
  init(_ path: String) throws(CommandFailure) {
    self.path = path
    if mkdir(path, 0o755) == 0 {
      isMade = true
      return
    }
    let error = SystemError(call: "mkdir", subject: path)
    isMade = false
    guard error.code == EEXIST else { throw OutputFile.unwritable(path, error) }
    guard Folder.isFolder(path) else {
      throw CommandFailure(.io, "\(path) is there already, and no folder", remedy: "name another folder")
    }
  }

  // What is not empty stays.
  deinit { if isMade { rmdir(path) } }
}
