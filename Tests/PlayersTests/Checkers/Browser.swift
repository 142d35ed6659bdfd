import FoundationEssentials
import Glibc
import Platform

/// Chromium without a window, for pages that a server of the tests serves.
final class Browser: Sendable {
  /// The process id while it runs.
  private let process = Locked<Int32?>(nil)

  /// Opens a page and waits until the browser ends; returns its last lines on standard error.
  ///
  /// Each run has a profile of its own: a browser does not start with that of one that runs.
  func open(_ url: String) async throws -> [String] {
    let profile = "\(OutputFolder.path)/profile-\(UUID())"
    defer { try? Folder.remove(profile) }
    let options = [
      "--headless", "--disable-gpu", "--disable-audio-output", "--autoplay-policy=no-user-gesture-required",
      "--user-data-dir=\(profile)",
    ]
    let run = try await Program.run(
      "chromium", options + (geteuid() == 0 ? ["--no-sandbox"] : []) + [url], seconds: 600
    ) { id in self.process.withLock { $0 = id } }
    process.withLock { $0 = nil }
    return run.errors.suffix(3)
  }

  /// Ends it.
  func end() { process.withLock { if let id = $0 { kill(id, SIGTERM) } } }
}
