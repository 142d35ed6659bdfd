import Glibc

/// The program of a run, as it was built beside whatever runs now.
package enum ChaosProgram {
  /// Its path.
  package static let path = folder + "/chaos"

  /// The library that sets the clock of a program wrong in which it is loaded first; see `CClockSkew`.
  package static let clockSkew = folder + "/libClockSkew.so"

  /// The folder of built programs.
  package static let folder: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])
  }()
}
