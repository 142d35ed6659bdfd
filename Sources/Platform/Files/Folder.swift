internal import CSystem
import Glibc

/// Operations on directories.
package enum Folder {
  /// Creates a directory and its missing parents; an existing directory stays unchanged.
  package static func make(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
    if mkdir(path, mode) == 0 || errno == EEXIST {
      guard isFolder(path) else { throw SystemError(call: "mkdir", code: ENOTDIR, subject: path) }
      return
    }
    guard errno == ENOENT, let parent = parent(of: path) else { throw SystemError(call: "mkdir", subject: path) }
    try make(parent)
    guard mkdir(path, mode) == 0 || errno == EEXIST else { throw SystemError(call: "mkdir", subject: path) }
  }

  /// Whether the path is a directory, or a symbolic link to one.
  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The parent directory of `path`; nil for the root and for a bare name.
  package static func parent(of path: String) -> String? {
    let trimmed = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
    guard trimmed != "/", let slash = trimmed.lastIndex(of: "/") else { return nil }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }

  /// The absolute path without symbolic links; the directory must exist.
  package static func resolved(_ path: String) throws(SystemError) -> String {
    guard let resolved = realpath(path, nil) else { throw SystemError(call: "realpath", subject: path) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The names in a directory, in no order, without `.` and `..`.
  package static func names(in path: String) throws(SystemError) -> [String] {
    guard let stream = opendir(path) else { throw SystemError(call: "opendir", subject: path) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Removes a file, or a directory with its content. Symbolic links are not followed; a missing path is not an error.
  package static func remove(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw SystemError(call: "lstat", subject: path)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      for name in try names(in: path) { try remove("\(path)/\(name)") }
      guard rmdir(path) == 0 || errno == ENOENT else { throw SystemError(call: "rmdir", subject: path) }
    } else {
      guard unlink(path) == 0 || errno == ENOENT else { throw SystemError(call: "unlink", subject: path) }
    }
  }

  /// Exchanges two directories in one step: a crash leaves both or none exchanged (renameat2(2)).
  package static func exchange(_ path: String, _ other: String) throws(SystemError) {
    guard csystem_exchange(path, other) == 0 else { throw SystemError(call: "renameat2", subject: path) }
  }

  /// Waits until the entries of a directory are on disk: fsync of a file does not cover its name.
  package static func synchronize(_ path: String) throws(SystemError) {
    try Descriptor(reading: path).synchronize()
  }
}
