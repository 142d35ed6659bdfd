package import Model

/// An error for stored data that is missing, inconsistent or not readable.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The subject does not exist, or does not wait for outputs.
  case noSubject(Subject)
  /// The job's arguments do not decode as arguments of its kind, for the given reason.
  case unreadableJob(PublicID, String)
  /// The kind of the job is not known.
  case unknownKind(String, PublicID)
  /// The definition that the job refers to is not stored.
  case noDefinition(PublicID)
  /// The definition that the job refers to does not decode, for the given reason.
  case unreadableDefinition(PublicID, String)
  /// The definition that the job refers to is for clips and the sources are photos, or the other way round.
  case otherMedia(PublicID)
  /// The subject has no source of this role.
  case noSource(Subject, Role)
  /// The subject got other outputs while these were made.
  case outputsChanged(Subject)
  /// The item of the run has an outcome already.
  case itemEnded(Subject)

  /// Whether a newer version of take5 may have written what this version cannot read. The job waits for a worker of that
  /// version.
  package var mayBeNewer: Bool {
    switch self {
    case .unknownKind, .unreadableDefinition: true
    default: false
    }
  }

  package var description: String {
    switch self {
    case .noSubject(let subject): "\(subject) does not exist, or does not wait for outputs"
    case .unreadableJob(let id, let reason): "the arguments of job \(id) cannot be read: \(reason)"
    case .unknownKind(let kind, let id): "unknown kind '\(kind)' of job \(id)"
    case .noDefinition(let id): "the definition of job \(id) is not stored"
    case .unreadableDefinition(let id, let reason): "the definition of job \(id) cannot be read: \(reason)"
    case .otherMedia(let id): "the definition of job \(id) is for other media than the sources"
    case .outputsChanged(let subject): "\(subject) got other outputs while these were made"
    case .itemEnded(let subject): "the reprocessing of \(subject) was completed by another attempt"
    case .noSource(let subject, let role): "\(subject) has no \(role.rawValue)"
    }
  }
}
