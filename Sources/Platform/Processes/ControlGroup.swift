import Glibc

/// What the control groups of a process permit it (cgroups(7)).
package enum ControlGroup {
  private static let mount = "/sys/fs/cgroup"

  /// The number of processors that the quotas of a process's group and of those above it permit, rounded up; a large number without one.
  ///
  /// - Parameters:
  ///   - path: the list of the process's groups, as `/proc/self/cgroup`.
  ///   - read: reads a small file; nil: there is none.
  package static func processors(
    of path: String,
    read: (String) -> String? = { path in
      (try? Descriptor(reading: path).contents()).map { String(decoding: $0, as: UTF8.self) }
    }
  ) -> Int {
    var least = Double(Int32.max)
    for line in (read(path) ?? "").split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let controllers = parts[1].split(separator: ",")
      // Version 2 has one hierarchy without names, version 1 one for each controller.
      guard parts[1].isEmpty || controllers.contains("cpu") else { continue }
      var group = parts[2].split(separator: "/")[...]
      while true {
        let folder = mount + (parts[1].isEmpty ? "" : "/\(parts[1])") + group.map { "/" + $0 }.joined()
        if let quota = parts[1].isEmpty ? quota(read("\(folder)/cpu.max")) : quota(of: folder, read) {
          least = min(least, quota)
        }
        guard group.popLast() != nil else { break }
      }
    }
    return Int(least.rounded(.up))
  }

  /// The quota in a text such as `150000 100000`; nil for `max 100000`.
  private static func quota(_ text: String?) -> Double? {
    let numbers = (text ?? "").split(whereSeparator: \.isWhitespace).map { Double($0) }
    guard numbers.count == 2, let time = numbers[0], let period = numbers[1], time > 0, period > 0 else { return nil }
    return min(time / period, Double(Int32.max))
  }

  private static func quota(of folder: String, _ read: (String) -> String?) -> Double? {
    quota("\(read("\(folder)/cpu.cfs_quota_us") ?? "") \(read("\(folder)/cpu.cfs_period_us") ?? "")")
  }
}
