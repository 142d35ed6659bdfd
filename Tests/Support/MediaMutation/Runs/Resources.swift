import Glibc
import Platform

/// What a run holds: it must not grow with the number of mutations.
package struct Resources: Codable, Sendable {
  /// Anonymous resident memory of this process, in bytes.
  package var memory = 0
  /// That of the fork server; 0 without one.
  package var serverMemory = 0
  package var descriptors = 0
  package var serverDescriptors = 0
  /// The processes that this process and the fork server have started and that have not ended.
  package var children = 0
  /// The files in the folder of blobs.
  package var files = 0

  package init() {}

  /// Measures this process and a fork server.
  ///
  /// - Parameters:
  ///   - server: the process id; nil: there is none.
  ///   - folder: the folder of blobs; nil: there is none.
  package init(server: Int32?, folder: String?) throws {
    memory = Self.memory(of: "self")
    descriptors = Self.descriptors(of: "self")
    children = Self.children(of: "\(getpid())")
    if let server {
      serverMemory = Self.memory(of: "\(server)")
      serverDescriptors = Self.descriptors(of: "\(server)")
      children += Self.children(of: "\(server)")
    }
    if let folder { files = try Self.files(in: folder) }
  }

  /// The growth since an earlier measurement that is a leak, as a phrase; nil if there is none.
  package func leak(since earlier: Resources) -> String? {
    let growth = [
      ("descriptors", descriptors - earlier.descriptors),
      ("descriptors of the fork server", serverDescriptors - earlier.serverDescriptors),
      ("children", children - earlier.children), ("files", files - earlier.files),
      // Allocators keep what they had at the largest file.
      ("MiB", (memory - earlier.memory) >> 20 > 64 ? (memory - earlier.memory) >> 20 : 0),
      (
        "MiB of the fork server",
        (serverMemory - earlier.serverMemory) >> 20 > 2 ? (serverMemory - earlier.serverMemory) >> 20 : 0
      ),
    ].filter { $0.1 > 0 }
    return growth.isEmpty ? nil : growth.map { "\($0.1) more \($0.0)" }.joined(separator: ", ")
  }

  private static func memory(of process: String) -> Int {
    let lines = (KernelFile.read("/proc/\(process)/status") ?? "").split(separator: "\n")
    let line = lines.first { $0.hasPrefix("RssAnon:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
  }

  // Only root can list the descriptors of a process that cannot be traced.
  private static func descriptors(of process: String) -> Int {
    (try? Folder.names(in: "/proc/\(process)/fd").count) ?? 0
  }

  private static func children(of process: String) -> Int {
    let tasks = (try? Folder.names(in: "/proc/\(process)/task")) ?? []
    return tasks.reduce(0) { count, task in
      count + (KernelFile.read("/proc/\(process)/task/\(task)/children") ?? "").split(separator: " ").count
    }
  }

  private static func files(in folder: String) throws -> Int {
    try Folder.names(in: folder).reduce(0) { count, name in
      let path = "\(folder)/\(name)"
      return count + (Folder.isFolder(path) ? try files(in: path) : 1)
    }
  }
}
