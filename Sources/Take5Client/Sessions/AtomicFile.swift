import Foundation

/// Files that are there as a whole or not at all, also after the end of the process.
enum AtomicFile {
  /// Replaces a file. After an error the former one is still there.
  static func write(_ data: Data, to url: URL) throws {
    let next = url.deletingLastPathComponent().appending(path: ".\(UUID().uuidString)")
    do {
      guard FileManager.default.createFile(atPath: next.path, contents: nil) else {
        throw CocoaError(.fileWriteUnknown)
      }
      let handle = try FileHandle(forWritingTo: next)
      defer { handle.closeFile() }
      try handle.write(contentsOf: data)
      try handle.synchronize()
      try rename(next, to: url)
    } catch {
      remove(next)
      throw error
    }
  }

  /// Renames a file or a folder, and replaces another one that has the name.
  static func rename(_ url: URL, to other: URL) throws {
    guard Foundation.rename(url.path, other.path) == 0 else {
      throw CocoaError(errno == ENOSPC ? .fileWriteOutOfSpace : .fileWriteUnknown)
    }
  }

  /// Removes what may not be there.
  static func remove(_ url: URL) {
    // What stays is removed when the queue is read the next time.
    do { try FileManager.default.removeItem(at: url) } catch {}
  }
}
