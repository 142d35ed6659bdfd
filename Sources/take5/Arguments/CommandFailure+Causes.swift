import Blobs
import EmbeddedPostgres
import MediaProcess
import Platform
import Postgres
import Store

extension CommandFailure {
  /// What an error is to the user; a fault of ours where nothing else is known of it.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case is CancellationError: self = .interrupted
    case let failure as MediaFailure: self.init(failure)
    case let error as PostgresError:
      self.init(.unavailable, "the database failed: \(error.message)", remedy: error.remedy)
    case let error as EmbeddedPostgresError: self.init(error)
    case let error as BlobError: self.init(.io, "\(error)", remedy: "'take5 verify' tells whether the store is whole")
    case let error as SystemError: self.init(.io, "\(error)")
    default: self.init(.internal, "\(error)", remedy: "this is a fault of take5: please report it")
    }
  }

  /// What ended a media process, where that was not the media.
  ///
  /// - Parameter path: what was to be written.
  init(_ failure: MediaFailure, writing path: String? = nil) {
    switch failure.kind {
    case .cancelled: self = .interrupted
    case .outOfSpace:
      self.init(
        .io, "\(path ?? "the output") cannot be written: no room is left on the device",
        remedy: "make room on the device and try again")
    case .interrupted, .unavailable: self.init(.internal, failure.detail, remedy: "try again")
    default: self.init(.internal, failure.detail, remedy: "this is a fault of take5: please report it")
    }
  }

  init(_ error: EmbeddedPostgresError) { self.init(.unavailable, error.message, remedy: error.remedy) }
}
