import Blobs
import Crypto
import MediaProcess
import Model
import Platform
import Postgres
import Queue
import Store

/// The ending of an attempt, which determines the next state of the job and of its subject. An ending that concerns the
/// media holds the work.
enum AttemptEnding {
  /// The media were accepted; the outputs are sealed and not yet published.
  case accepted(Work, Verdict, outputs: [NewAsset], recipe: SHA256Digest)
  /// The media were rejected; a retry does not change that.
  case rejected(Work, Verdict)
  /// The media crashed the media process. The job is postponed; the second crash rejects and quarantines the media.
  case broken(Work, CrashFacts)
  /// Another process killed the media process. The job is postponed and then runs isolated.
  case interrupted(Work, MediaFailure)
  /// The current outputs were made by the same recipe.
  case unchanged(Work)
  /// A resource that every attempt needs is not available, or the job needs a newer worker. The job is postponed.
  case unable(Outage)
  /// Other jobs did not end in time for an isolated attempt. The job is snoozed.
  case crowded
  /// The file of a source is damaged or missing. The job is retried until it has no attempts left; the media are not
  /// rejected.
  case damaged(BlobError, SHA256Digest)
  /// The attempt failed for another reason. The job is retried until it has no attempts left.
  case failed(String)
  /// The run of the item is paused or has ended.
  case superseded(Reprocessing.ItemEnding)
  /// There is no first look, for the given reason: what becomes of the post is left to the job that makes the outputs.
  case withoutLook(Work, String)
  /// The control stopped the attempt.
  case stopped(HeldJob.StopReason)
}

extension AttemptEnding {
  /// Creates the ending for an error outside of the media process.
  init(_ error: any Error) {
    switch error {
    case BlobError.missing(let hash): self = .damaged(.missing(hash), hash)
    case BlobError.damaged(let hash, let damage): self = .damaged(.damaged(hash, damage), hash)
    case BlobError.system, BlobError.unavailable, BlobError.refused, is SystemError: self = .unable(Outage("\(error)"))
    case let error as PostgresError where error.isTransient: self = .unable(Outage("\(error)"))
    // The subject was deleted while its job was enqueued: no attempt finds it again.
    case StoreError.noSubject: self = .stopped(.cancelled)
    case let error as StoreError where error.mayBeNewer: self = .unable(Outage("\(error)"))
    default: self = .failed("\(error)")
    }
  }

  /// Creates the ending for an error of an attempt at the work.
  ///
  /// - Parameter error: of the media process a `MediaFailure` or a `PhotoFailure`.
  init(_ error: any Error, of work: Work) {
    let photo = error as? PhotoFailure
    guard let failure = photo?.failure ?? error as? MediaFailure else {
      self.init(error)
      return
    }
    if let code = failure.refusalCode {
      self = .broken(work, CrashFacts(failure, code, photo: photo?.index))
      return
    }
    switch failure.kind {
    case .interrupted: self = .interrupted(work, failure)
    case .outOfSpace, .unavailable: self = .unable(Outage(failure.description))
    default: self = .failed(failure.description)
    }
  }

  /// The ending of an attempt at a first look, which judges no media and counts against none.
  func ofLook(_ work: Work) -> AttemptEnding {
    switch self {
    case .rejected(_, let verdict):
      .withoutLook(work, verdict.reasons.map(\.code.rawValue).joined(separator: ", "))
    case .broken(_, let crash): .withoutLook(work, crash.description)
    case .damaged(let error, _): .withoutLook(work, error.description)
    case .failed(let error): .withoutLook(work, error)
    case .unchanged: .withoutLook(work, "no output can be made without composing and encoding")
    default: self
    }
  }

  /// Whether the ending contains texts or facts from the media.
  var hasFindings: Bool {
    switch self {
    case .accepted(_, let verdict, _, _), .rejected(_, let verdict): verdict != verdict.withoutFindings
    default: false
    }
  }

  /// The same ending without texts and facts from the media.
  var withoutFindings: AttemptEnding {
    switch self {
    case .accepted(let work, let verdict, let outputs, let recipe):
      .accepted(work, verdict.withoutFindings, outputs: outputs, recipe: recipe)
    case .rejected(let work, let verdict): .rejected(work, verdict.withoutFindings)
    default: self
    }
  }
}

/// A failure of the media process with one of the photos.
struct PhotoFailure: Error {
  let failure: MediaFailure
  /// The index of the photo that is the cause, if the media are.
  let index: Int

  /// - Parameter times: the times that the photos took, up to the one that failed. They share the deadline: an earlier
  ///   photo may have used it up.
  init(_ failure: MediaFailure, times: [Duration]) {
    self.failure = failure
    let last = times.count - 1
    index = failure.kind == .deadlineExceeded ? times.indices.max { times[$0] < times[$1] } ?? last : last
  }
}

extension CrashFacts {
  /// - Parameter photo: the index of the photo; nil for clips.
  init(_ failure: MediaFailure, _ code: ReasonCode, photo: Int?) {
    self.init(
      code: code, error: failure.detail, photo: photo, stage: failure.crash?.stage.rawValue,
      signal: failure.crash?.signal, limits: failure.crash.flatMap { try? JSON.text($0.limits) })
  }
}
