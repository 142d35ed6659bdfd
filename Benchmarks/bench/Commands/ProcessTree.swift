import Glibc
internal import Platform

/// The memory of a process and of everything that it has started.
enum ProcessTree {
  /// Bytes that are resident now, each page that several processes share counted once in all (proc(5), `Pss`).
  ///
  /// - Parameter isAlone: whether what it has started is left out.
  static func residentBytes(of process: Int32, isAlone: Bool = false) -> Int {
    let processes = (isAlone ? [] : descendants(of: process)) + [process]
    return processes.reduce(0) { $0 + (proportionalBytes(of: $1) ?? residentPages(of: $1) ?? 0) }
  }

  private static func descendants(of process: Int32) -> [Int32] {
    let threads = (try? Folder.names(in: "/proc/\(process)/task")) ?? []
    let children = threads.flatMap { thread in
      content("/proc/\(process)/task/\(thread)/children").split(separator: " ").compactMap { Int32($0) }
    }
    return children + children.flatMap { descendants(of: $0) }
  }

  private static func proportionalBytes(of process: Int32) -> Int? {
    let line = content("/proc/\(process)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  // A process that denies being traced shows this to root alone. Without root its pages count whole, to its disadvantage.
  private static func residentPages(of process: Int32) -> Int? {
    let fields = content("/proc/\(process)/statm").split(separator: " ")
    return fields.count > 1 ? Int(fields[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
  }

  // What has ended meanwhile has nothing.
  private static func content(_ path: String) -> String {
    guard let file = try? Descriptor(reading: path), let bytes = try? file.bytes(count: 1 << 16, at: 0) else {
      return ""
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
