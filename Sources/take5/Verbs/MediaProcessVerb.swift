import MediaProcess
import Platform

extension Subcommand {
  static let mediaProcess = Subcommand(
    hidden: MediaProcess.verb, abstract: "Work on media for a parent that sends them as descriptors."
  ) { _ in
    // Hours of decoding belong on a thread of our own, not on one of the shared pool.
    try await onThread("media-process") { try MediaChild.serve() }
    return .done
  }
}
