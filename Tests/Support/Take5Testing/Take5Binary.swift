import Glibc

/// The program under test, as it was built beside the tests.
package enum Take5Binary {
  /// Its path.
  package static let path: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let runner = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(runner[..<(runner.lastIndex(of: "/") ?? runner.startIndex)]) + "/take5"
  }()
}
