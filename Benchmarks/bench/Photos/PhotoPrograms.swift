import Glibc
internal import Platform

/// The programs that photos are measured against.
struct PhotoPrograms: Sendable {
  /// Of an environment that has pyvips and Pillow.
  let python: String
  let vipsthumbnail: String

  /// - Parameter folder: where `make bench-photo` puts the environment.
  init(folder: String) throws {
    python = "\(folder)/venv/bin/python"
    vipsthumbnail = "/usr/bin/vipsthumbnail"
    for program in [python, vipsthumbnail] where access(program, X_OK) != 0 {
      throw BenchError("there is no \(program); 'make bench-photo' installs what is missing")
    }
  }
}
