import Crypto
import MediaProcess
import Model
import QueueWorker
import Store

/// How an attempt ends; the ways are kept apart, because they differ in what happens to the post and to the job.
enum AttemptEnding {
  /// The media were accepted; the outputs are whole and wait to be published.
  case accepted(Verdict, outputs: [NewAsset], recipe: SHA256Digest)
  /// The media were refused; no retry will change that.
  case rejected(Verdict)
  /// The media process broke, and the media may be the reason: tried once more, then refused.
  case broken(MediaFailure)
  /// Something of ours failed: tried again after a pause, until the attempts are used up.
  case failed(String)
  /// What is there already is what would come out.
  case unchanged
  /// It is not wanted any more: its run is paused or over.
  case unwanted(Store.ItemEnding)
  /// The attempt was asked to stop.
  case stopped(HeldJob.Stop)
}

extension AttemptEnding {
  /// Whether it says something that was found in the media.
  var hasFindings: Bool {
    switch self {
    case .accepted(let verdict, _, _), .rejected(let verdict): verdict != verdict.withoutFindings
    case .broken, .failed, .unchanged, .unwanted, .stopped: false
    }
  }

  /// The same ending without what was found in the media.
  var withoutFindings: AttemptEnding {
    switch self {
    case .accepted(let verdict, let outputs, let recipe):
      .accepted(verdict.withoutFindings, outputs: outputs, recipe: recipe)
    case .rejected(let verdict): .rejected(verdict.withoutFindings)
    case .broken, .failed, .unchanged, .unwanted, .stopped: self
    }
  }
}
