import Glibc

/// Memory of an exact size next to a page that faults when it is accessed.
///
/// Vector instructions that read or write too far are found in every build: sanitizers do not see all of them.
package final class GuardedMemory {
  /// The end of the memory that touches such a page.
  package enum Edge: Sendable {
    case start, end
  }

  /// The first byte.
  package let base: UnsafeMutableRawPointer
  private let mapping: UnsafeMutableRawPointer
  private let length: Int

  /// Maps `count` zero bytes; pages take memory once they are written.
  package init(count: Int, edge: Edge) {
    let page = sysconf(Int32(_SC_PAGESIZE))
    let room = (count + page - 1) / page * page
    length = room + 2 * page
    mapping = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    precondition(mapping != MAP_FAILED, "\(length) bytes cannot be mapped")
    let guards = [mapping, mapping + page + room].map { mprotect($0, page, PROT_NONE) }
    precondition(guards == [0, 0], "a page cannot be protected")
    base = mapping + page + (edge == .start ? 0 : room - count)
  }

  deinit { munmap(mapping, length) }
}
