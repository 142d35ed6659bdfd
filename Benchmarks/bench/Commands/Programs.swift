import Glibc
internal import Platform

/// The programs that are run.
struct Programs: Sendable {
  let take5: String
  let ffmpeg: String
  let ffprobe: String
  /// This program itself.
  let bench: String

  /// - Parameter take5: where it is; nil: beside this program.
  init(take5: String?) throws {
    let bench = try Folder.resolved(ThisProcess.executable)
    self.bench = bench
    self.take5 = try Self.take5(take5)
    ffmpeg = try Self.find("ffmpeg")
    ffprobe = try Self.find("ffprobe")
  }

  /// The program to measure.
  ///
  /// - Parameter path: where it is; nil: beside this program.
  static func take5(_ path: String?) throws -> String {
    try path ?? beside(Folder.resolved(ThisProcess.executable), name: "take5")
  }

  private static func find(_ name: String) throws -> String {
    let folders = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin").split(separator: ":")
    guard let folder = folders.first(where: { access("\($0)/\(name)", X_OK) == 0 }) else {
      throw BenchError("there is no \(name) in PATH; on Debian: apt-get install ffmpeg")
    }
    return "\(folder)/\(name)"
  }

  private static func beside(_ program: String, name: String) throws -> String {
    let path = "\(Folder.parent(of: program) ?? ".")/\(name)"
    guard access(path, X_OK) == 0 else {
      throw BenchError("there is no \(path); build it with: swift build -c release --product \(name)")
    }
    return path
  }
}
