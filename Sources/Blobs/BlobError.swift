package import Crypto
import Glibc
package import Platform

/// An error of a blob store.
package enum BlobError: Error, Sendable, Hashable, CustomStringConvertible {
  case missing(SHA256Digest)
  /// The file does not match its row or its name.
  case damaged(SHA256Digest, BlobDamage)
  /// The store cannot be reached, with the reason; nothing is known about its blobs.
  case unavailable(String)
  /// The object store refuses the request with a status and a code, such as `403 AccessDenied`: an operator must mend that.
  case refused(String, reason: String)
  /// A system call failed.
  case system(SystemError)

  package var description: String {
    switch self {
    case .missing(let hash): "blob not found: \(hash)"
    case .damaged(let hash, let damage): "the blob \(hash) is \(damage.rawValue)"
    case .unavailable(let reason): "the blob store is unavailable: \(reason)"
    case .refused(_, let reason): "the blob store refuses the request: \(reason)"
    case .system(let error): "blob store: \(error)"
    }
  }

  /// The damage of the requested blob; nil if the error is another one.
  package var damage: BlobDamage? {
    switch self {
    case .missing: .missing
    case .damaged(_, let damage): damage
    case .system(let error) where Self.damages.contains(error.code): .corrupt
    case .unavailable, .refused, .system: nil
    }
  }

  // The errors that concern the file itself and not the access to it.
  private static let damages: Set<Int32> = [EIO, EISDIR, ELOOP, EILSEQ, EUCLEAN, EMEDIUMTYPE]
}

/// The kind of a damaged blob; the raw value is used in metrics and in the database.
package enum BlobDamage: String, Sendable, Hashable, CaseIterable {
  /// The file does not exist.
  case missing
  /// The file is too short.
  case truncated
  /// The content differs, or cannot be read.
  case corrupt
}
