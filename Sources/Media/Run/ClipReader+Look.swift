import Model

extension ClipReader {
  /// Reads the input for a first look: all packets, and of the frames those that stills show.
  ///
  /// Before each still it goes on at the last frame at which decoding can begin.
  func look(for stills: [StillTap]) throws(RunFailure) {
    for still in stills.sorted(by: { $0.writer.plan.at < $1.writer.plan.at }) {
      if let refresh = expected?.refresh(before: still.writer.plan.at) { try skip(to: refresh) }
      while !still.isFinished, try advance() {}
      guard still.isFinished else { throw source.refusal(.corruptVideo, "the frame of a still cannot be decoded") }
    }
    try passRest()
  }
}
