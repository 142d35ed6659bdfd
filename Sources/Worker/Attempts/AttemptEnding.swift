import Blobs
import Crypto
import MediaProcess
import Model
import Platform
import Postgres
import QueueWorker
import Store

/// The ending of an attempt, which determines the next state of the job and of its subject.
enum AttemptEnding {
  /// The media were accepted; the outputs are sealed and not yet published.
  case accepted(Verdict, outputs: [NewAsset], recipe: SHA256Digest)
  /// The media were rejected; a retry does not change that.
  case rejected(Verdict)
  /// The media process crashed, possibly because of the media. `isConfirmed` says that the attempt was isolated. The job
  /// is postponed, and the media are rejected after two confirmed crashes.
  case broken(MediaFailure, ReasonCode, isConfirmed: Bool)
  /// Another process killed the media process. The job is postponed and then runs isolated.
  case interrupted(MediaFailure)
  /// A resource that every attempt needs is not available. The job is postponed.
  case unable(Outage)
  /// Other jobs did not end in time for an isolated attempt. The job is snoozed.
  case crowded
  /// The file of a source is damaged or missing. The job is retried until it has no attempts left; the media are not
  /// rejected.
  case damaged(BlobError, SHA256Digest)
  /// The attempt failed for another reason. The job is retried until it has no attempts left.
  case failed(String)
  /// The current outputs were made by the same recipe.
  case unchanged
  /// The run of the item is paused or has ended.
  case superseded(Store.ItemEnding)
  /// The control stopped the attempt.
  case stopped(HeldJob.StopReason)
}

extension AttemptEnding {
  /// Creates the ending for an error.
  ///
  /// - Parameter isIsolated: whether the attempt ran alone in a new media process.
  init(_ error: any Error, isIsolated: Bool) {
    switch error {
    case let failure as MediaFailure: self.init(failure, isIsolated: isIsolated)
    case BlobError.missing(let hash): self = .damaged(.missing(hash), hash)
    case BlobError.damaged(let hash, let damage): self = .damaged(.damaged(hash, damage), hash)
    case BlobError.system, BlobError.unavailable, is SystemError: self = .unable(Outage("\(error)"))
    case let error as PostgresError where error.isTransient: self = .unable(Outage("\(error)"))
    default: self = .failed("\(error)")
    }
  }

  private init(_ failure: MediaFailure, isIsolated: Bool) {
    if let code = failure.refusalCode {
      self = .broken(failure, code, isConfirmed: isIsolated)
      return
    }
    switch failure.kind {
    case .interrupted: self = .interrupted(failure)
    case .outOfSpace, .unavailable: self = .unable(Outage(failure.description))
    default: self = .failed(failure.description)
    }
  }

  /// Whether the ending contains texts or facts from the media.
  var hasFindings: Bool {
    switch self {
    case .accepted(let verdict, _, _), .rejected(let verdict): verdict != verdict.withoutFindings
    default: false
    }
  }

  /// The same ending without texts and facts from the media.
  var withoutFindings: AttemptEnding {
    switch self {
    case .accepted(let verdict, let outputs, let recipe):
      .accepted(verdict.withoutFindings, outputs: outputs, recipe: recipe)
    case .rejected(let verdict): .rejected(verdict.withoutFindings)
    default: self
    }
  }
}
