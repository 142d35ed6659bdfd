import MediaProcess
import Platform

extension Verb {
  static let mediaProcess = Verb(
    MediaProcess.verb, abstract: "Work on media for a parent that sends them as descriptors.",
    example: "take5 media-process", isHidden: true
  ) { _ in
    // Hours of decoding belong on a thread of our own, not on one of the shared pool.
    try await onThread("media-process") { try MediaChild.serve() }
    return .done
  }
}
