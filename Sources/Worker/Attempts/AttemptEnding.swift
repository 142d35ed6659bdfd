import Blobs
import Crypto
import MediaProcess
import Model
import Platform
import Postgres
import QueueWorker
import Store

/// How an attempt ends; the ways are kept apart, because they differ in what happens to the post and to the job.
enum AttemptEnding {
  /// The media were accepted; the outputs are whole and wait to be published.
  case accepted(Verdict, outputs: [NewAsset], recipe: SHA256Digest)
  /// The media were refused; no retry will change that.
  case rejected(Verdict)
  /// The media process broke, and the media may be the reason. It is proven if they were alone in a fresh process: tried
  /// again so, and refused once it is proven twice.
  case broken(MediaFailure, ReasonCode, isProven: Bool)
  /// Somebody else ended it: tried again alone and later, and not counted.
  case interrupted(MediaFailure)
  /// Something that every attempt needs is not to be had: tried again later, and not counted.
  case unable(Outage)
  /// The others did not make room for it to work alone: put off, and not counted.
  case crowded
  /// The file of a source is not what was submitted, or is not there: it fails, and nothing is laid to the media.
  case damaged(BlobError, SHA256Digest)
  /// It failed, and nobody knows whose fault it is: tried again after a pause, until the attempts are used up.
  case failed(String)
  /// What is there already is what would come out.
  case unchanged
  /// It is not wanted any more: its run is paused or over.
  case superseded(Store.ItemEnding)
  /// The attempt was asked to stop.
  case stopped(HeldJob.StopReason)
}

extension AttemptEnding {
  /// What an error makes of an attempt.
  ///
  /// - Parameter isIsolated: whether it was alone in its queue here, in a fresh media process.
  init(_ error: any Error, isIsolated: Bool) {
    switch error {
    case let failure as MediaFailure: self.init(failure, isIsolated: isIsolated)
    case BlobError.missing(let hash): self = .damaged(.missing(hash), hash)
    case BlobError.damaged(let hash, let damage): self = .damaged(.damaged(hash, damage), hash)
    case BlobError.system, BlobError.away, is SystemError: self = .unable(Outage("\(error)"))
    case let error as PostgresError where error.isTransient: self = .unable(Outage("\(error)"))
    default: self = .failed("\(error)")
    }
  }

  private init(_ failure: MediaFailure, isIsolated: Bool) {
    if let code = failure.refusalCode {
      self = .broken(failure, code, isProven: isIsolated)
      return
    }
    switch failure.kind {
    case .interrupted: self = .interrupted(failure)
    case .outOfSpace, .unavailable: self = .unable(Outage(failure.description))
    default: self = .failed(failure.description)
    }
  }

  /// Whether it says something that was found in the media.
  var hasFindings: Bool {
    switch self {
    case .accepted(let verdict, _, _), .rejected(let verdict): verdict != verdict.withoutFindings
    default: false
    }
  }

  /// The same ending without what was found in the media.
  var withoutFindings: AttemptEnding {
    switch self {
    case .accepted(let verdict, let outputs, let recipe):
      .accepted(verdict.withoutFindings, outputs: outputs, recipe: recipe)
    case .rejected(let verdict): .rejected(verdict.withoutFindings)
    default: self
    }
  }
}
