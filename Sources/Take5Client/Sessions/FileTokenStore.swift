public import Foundation

/// A session in a file that only the user of the system can read, for programs where there is no keychain.
///
/// ```swift
/// let tokens = FileTokenStore(url: folder.appending(path: "session.json"))
/// ```
public struct FileTokenStore: TokenStore {
  private let url: URL

  /// Makes a store at a path, whose folder is made if it is missing.
  public init(url: URL) { self.url = url }

  /// The session that is stored, or nil. A file that is not a session throws.
  public func read() throws -> Session? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return try JSONDecoder().decode(Session.self, from: Data(contentsOf: url))
  }

  /// Stores a session in place of the one before; after an error the former one is still there.
  public func write(_ session: Session) throws {
    let folder = url.deletingLastPathComponent()
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let next = folder.appending(path: ".\(UUID().uuidString)")
    let data = try JSONEncoder().encode(session)
    // The file has its permissions before it has the tokens.
    guard FileManager.default.createFile(atPath: next.path, contents: nil, attributes: [.posixPermissions: 0o600])
    else {
      throw CocoaError(.fileWriteUnknown)
    }
    do {
      try data.write(to: next)
      try AtomicFile.rename(next, to: url)
    } catch {
      AtomicFile.remove(next)
      throw error
    }
  }

  /// Removes the session.
  public func remove() throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    try FileManager.default.removeItem(at: url)
  }
}
