import Glibc
import Platform
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Log of the server")
struct ServerLogTests {
  private let folder: TemporaryFolder
  private let log: ServerLog

  init() throws {
    folder = try TemporaryFolder()
    log = ServerLog(path: "\(folder.path)/postgres.log")
  }

  private func text(_ suffix: String = "") throws -> String {
    String(decoding: try Descriptor(reading: log.path + suffix).contents(), as: UTF8.self)
  }

  @Test("a large log is rotated while the server writes it, and one that is old too")
  func rotated() throws {
    let server = try log.open()
    try server.write(Array("first\n".utf8))
    log.rotate()
    #expect(try text() == "first\n")
    let line = Array(repeating: UInt8(ascii: "x"), count: 1 << 20) + [UInt8(ascii: "\n")]
    for _ in 0..<8 { try server.write(line) }
    log.rotate()
    #expect(try text() == "")
    #expect(try text(".1").hasPrefix("first\n") && text(".1").utf8.count == 8 * line.count + 6)
    try server.write(Array("second\n".utf8))
    log.rotate()
    #expect(try text() == "second\n")
    // The last rotation was eight days ago.
    let times = Array(repeating: timespec(tv_sec: time(nil) - 8 * 86_400, tv_nsec: 0), count: 2)
    #expect(utimensat(AT_FDCWD, log.path + ".1", times, 0) == 0)
    log.rotate()
    #expect(try text() == "")
    #expect(try text(".1") == "second\n")
    try server.write(Array("third\n".utf8))
    #expect(try text() == "third\n")
  }

  @Test("a log is rotated for its size or its age, and never if it is empty")
  func due() {
    #expect(!ServerLog.isDue(bytes: 0, rotated: 0, now: 1_000_000_000))
    #expect(!ServerLog.isDue(bytes: 1, rotated: 1_000_000_000, now: 1_000_000_000))
    #expect(ServerLog.isDue(bytes: ServerLog.maxBytes + 1, rotated: 1_000_000_000, now: 1_000_000_000))
    #expect(ServerLog.isDue(bytes: 1, rotated: 999_000_000, now: 1_000_000_000))
  }
}
