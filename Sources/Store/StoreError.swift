package import Model

/// What is stored does not fit together, or is not there.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is nothing that the job could work for.
  case noSubject(Subject)
  /// The job's arguments are not those of its kind; why not.
  case unreadableJob(PublicID, String)
  /// No job of this kind is known.
  case unknownKind(String, PublicID)
  /// The definition that the job names is not stored.
  case noDefinition(PublicID)
  /// The definition that the job names is stored, and cannot be read; why not.
  case unreadableDefinition(PublicID, String)
  /// A source is missing.
  case noSource(Subject, Role)

  /// The subject got other outputs while these were made.
  case changedMeanwhile(Subject)
  /// Its item in a run has an outcome already.
  case itemIsOver(Subject)

  package var description: String {
    switch self {
    case .noSubject(let subject): "\(subject) does not exist, or does not wait for its media"
    case .unreadableJob(let id, let reason): "the arguments of job \(id) cannot be read: \(reason)"
    case .unknownKind(let kind, let id): "job \(id) is of kind '\(kind)', which this worker does not know"
    case .noDefinition(let id): "the definition of job \(id) is not stored"
    case .unreadableDefinition(let id, let reason): "the definition of job \(id) cannot be read: \(reason)"
    case .changedMeanwhile(let subject): "\(subject) got other outputs meanwhile"
    case .itemIsOver(let subject): "\(subject) was made again by another attempt"
    case .noSource(let subject, let role): "\(subject) has no \(role.rawValue)"
    }
  }
}
