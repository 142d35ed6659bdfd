package import Model

/// What is stored does not fit together, or is not there.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no post that the job could work for.
  case noPost(PublicID)
  /// The job's arguments are not those of its kind.
  case unreadableJob(PublicID)
  /// The definition that the job names is not stored, or cannot be read.
  case noDefinition(PublicID)
  /// A source of the post is missing.
  case noSource(PublicID, Role)

  package var description: String {
    switch self {
    case .noPost(let id): "post \(id) does not exist, or does not wait for its media"
    case .unreadableJob(let id): "the arguments of job \(id) cannot be read"
    case .noDefinition(let id): "the definition of job \(id) is not stored, or cannot be read"
    case .noSource(let id, let role): "post \(id) has no \(role.rawValue)"
    }
  }
}
