import Glibc
import Model
import Platform

/// A file outside the database to which a process appends its events durably.
final class Ledger: Sendable {
  private let file: Descriptor
  private let process = getpid()

  /// Opens a ledger for appending, and creates it if it does not exist.
  init(_ path: String) throws(SystemError) {
    let number = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    file = Descriptor(owning: number)
  }

  /// Appends events with one write and waits until they are on the disk.
  func write(_ events: LedgerEvent...) throws { try write(events) }

  /// Appends events with one write and waits until they are on the disk.
  func write(_ events: [LedgerEvent]) throws {
    guard !events.isEmpty else { return }
    let time = ClockReading.now
    let bytes = try events.flatMap { event in
      try JSON.encode(LedgerEntry(process: process, time: time, event: event)) + [UInt8(ascii: "\n")]
    }
    let count = bytes.withUnsafeBytes { Glibc.write(file.number, $0.baseAddress, $0.count) }
    guard count == bytes.count, fdatasync(file.number) == 0 else { throw SystemError(call: "write", subject: "ledger") }
  }

  /// Reads all ledgers in a folder, in the order of time. An incomplete last line of a killed process is ignored.
  static func read(folder: String) throws -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    for name in try Folder.names(in: folder) where name.hasSuffix(".ledger") {
      entries += try read("\(folder)/\(name)")
    }
    return entries.sorted { $0.time.monotonic < $1.time.monotonic }
  }

  /// Reads one ledger.
  static func read(_ path: String) throws -> [LedgerEntry] {
    let bytes = try Descriptor(reading: path).contents()
    let lines = bytes[..<(bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0)].split(separator: UInt8(ascii: "\n"))
    return try lines.map { try JSON.decode(LedgerEntry.self, from: Array($0)) }
  }
}

/// One line of a ledger, as a JSON object: a process, a time and an event.
struct LedgerEntry: Sendable, Hashable, Codable {
  let process: Int32
  let time: ClockReading
  let event: LedgerEvent
}

/// An event of a ledger.
enum LedgerEvent: Sendable, Hashable, Codable {
  /// A producer is about to enqueue a job.
  case intended(PublicID)
  /// The database acknowledged the commit to the producer.
  case enqueued(PublicID)
  /// The database acknowledged to the producer that a live job with the same unique key replaces the job.
  case absorbed(PublicID)
  /// The database acknowledged the cancellation to the producer.
  case cancelled(PublicID)
  /// A worker starts an attempt.
  case started(PublicID, token: Int64, attempt: Int)
  /// The work of an attempt returned; its result has not been written.
  case returned(PublicID, token: Int64)
  /// The database acknowledged to the worker the commit of the transaction with the attempt's effect.
  case committed(PublicID, token: Int64)
  /// The process exits normally.
  case exited
  /// The controller injects a fault into a process; 0 for a fault that affects all.
  case fault(FaultKind, process: Int32)
  /// The controller has ended the fault.
  case repaired(FaultKind, process: Int32)
}

/// A time of two clocks of the machine: the clock that the database uses, and the monotonic clock.
struct ClockReading: Sendable, Hashable, Codable {
  /// Microseconds since 1970-01-01 UTC (CLOCK_REALTIME).
  let wall: Int64
  /// Microseconds since the start of the machine (CLOCK_MONOTONIC), the same in all processes.
  let monotonic: Int64

  static var now: ClockReading {
    ClockReading(wall: microseconds(CLOCK_REALTIME), monotonic: microseconds(CLOCK_MONOTONIC))
  }

  private static func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
