import Glibc
import Platform

/// The wall clock of programs, which steps when a test wants it; see `CClockSkew`.
struct SteppedClock: Sendable {
  private let file: OpenFile
  /// For the programs whose clock it is.
  let environment: [String: String]

  /// - Parameter folder: an empty folder, which the programs can read.
  init(in folder: String) throws {
    try Folder.make(folder, mode: 0o755)
    let path = "\(folder)/skew"
    file = OpenFile(try Descriptor(writing: path, replacing: false))
    try file.descriptor.write([UInt8](repeating: 0, count: 8), at: 0)
    // The server of root runs as another user, who may not reach the folder of the build.
    let library = "\(folder)/libClockSkew.so"
    try Descriptor(writing: library, replacing: false, mode: 0o755).write(
      try Descriptor(reading: ProgramPath.clockSkew).contents())
    environment = ["LD_PRELOAD": library, "TAKE5_CLOCK_SKEW_FILE": path]
  }

  /// Sets what the clock is ahead of the machine's, in seconds.
  func step(to seconds: Int) throws {
    try file.descriptor.write(withUnsafeBytes(of: seconds) { Array($0) }, at: 0)
  }

  /// The environment of programs that start PostgreSQL, whose clock it is then.
  func environmentOfOwners(in folder: String) throws -> [String: String] {
    let programs = "/usr/lib/postgresql"
    let version = try Folder.names(in: programs).compactMap(Int.init).max() ?? 0
    try Folder.make(folder, mode: 0o755)
    guard symlink("\(programs)/\(version)/bin/initdb", "\(folder)/initdb") == 0 else {
      throw SystemError(call: "symlink", subject: folder)
    }
    let settings = environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
    try Descriptor(writing: "\(folder)/postgres", replacing: false, mode: 0o755).write(
      Array("#!/bin/sh\n\(settings) exec \(programs)/\(version)/bin/postgres \"$@\"\n".utf8))
    return ["TAKE5_POSTGRES_BIN": folder]
  }
}
