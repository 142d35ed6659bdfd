internal import Model
internal import Queue

extension NewJob {
  private static let definition = [UInt8](repeating: 0xA5, count: 32)
  /// So many submit by turns.
  private static let authors = 1000

  /// A job of the benchmark that nobody submitted, with what the jobs of the service carry: an author, a definition's
  /// hash, a request.
  static func ofBench() -> NewJob {
    NewJob(
      publicID: .now(), queue: QueueProcess.queue, kind: "noop", deadlineSeconds: 60, author: "bench",
      definition: definition, request: "bench", arguments: Array("{}".utf8))
  }

  /// A job as a submission brings it: in the turn of its author.
  static func ofBench(author number: Int, arguments: [UInt8] = Array("{}".utf8)) -> NewJob {
    var job = ofBench()
    let author = "author-\(max(0, number) % authors)"
    job.author = author
    job.share = JobShare(name: "author:" + author)
    job.arguments = arguments
    return job
  }
}
