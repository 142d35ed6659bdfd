import Glibc
import Platform

/// A file that appears under its name only when it is whole; whatever happens before leaves nothing behind.
struct OutputFile: ~Copyable {
  let path: String
  let descriptor: Descriptor
  private let partial: String

  /// Opens a file beside the one to be written; status 74 if the folder cannot be written.
  init(path: String) throws(CommandFailure) {
    let folder = Self.folder(of: path)
    partial = "\(folder)/.\(Self.name(of: path)).\(getpid()).partial"
    self.path = path
    do {
      descriptor = try Descriptor(writing: partial, replacing: true)
    } catch {
      throw CommandFailure(
        .io, "\(path) cannot be written: \(error)", remedy: "check that the folder exists and that you may write to it")
    }
  }

  /// Gives the file its name, replacing one that has it.
  consuming func commit() throws(CommandFailure) {
    do {
      try descriptor.synchronize()
    } catch {
      throw CommandFailure(.io, "\(path) cannot be written: \(error)")
    }
    guard rename(partial, path) == 0 else {
      throw CommandFailure(.io, "\(SystemError(call: "rename", subject: path))")
    }
  }

  // After a commit the partial name is gone already, and this finds nothing.
  deinit { unlink(partial) }

  /// The part of a path before its last slash; `.` if it has none.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }
}
