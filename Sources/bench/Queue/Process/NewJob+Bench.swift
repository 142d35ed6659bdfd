internal import Model
internal import Queue

extension NewJob {
  private static let definition = [UInt8](repeating: 0xA5, count: 32)

  /// A job of the benchmark, with what the jobs of the service carry: an author, a definition's hash, a request.
  static func ofBench(arguments: [UInt8] = Array("{}".utf8)) -> NewJob {
    NewJob(
      publicID: .now(), queue: QueueProcess.queue, kind: "noop", deadlineSeconds: 60, author: "bench",
      definition: definition, request: "bench", arguments: arguments)
  }
}
