/// How our own worker takes its jobs.
struct QueueSettings: Sendable, Hashable {
  /// Jobs that it performs at a time.
  private(set) var slots = 2

  init(_ arguments: some Sequence<String>) throws {
    var rest = Array(arguments)[...]
    while let name = rest.popFirst() {
      guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else {
        throw BenchError("\(name) needs a number of at least 1")
      }
      switch name {
      case "--slots": slots = value
      default: throw BenchError("a queue's process has no setting \(name)")
      }
    }
  }
}
