package import Crypto
package import Platform

/// Why a blob could not be kept or read.
package enum BlobError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no blob of that hash.
  case missing(SHA256Digest)
  /// The system refused; `isOutOfSpace` tells a full disk from the rest.
  case system(SystemError)

  package var description: String {
    switch self {
    case .missing(let hash): "there is no blob \(hash)"
    case .system(let error): "blob store: \(error)"
    }
  }
}
