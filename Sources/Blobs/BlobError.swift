package import Crypto
import Glibc
package import Platform

/// Why a blob could not be kept or read.
package enum BlobError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no blob of that hash.
  case missing(SHA256Digest)
  /// Its file is not what its row and its name say.
  case damaged(SHA256Digest, BlobDamage)
  /// The store itself is not there, in words: nothing is known of any blob.
  case away(String)
  /// The system refused; `isOutOfSpace` tells a full disk from the rest.
  case system(SystemError)

  package var description: String {
    switch self {
    case .missing(let hash): "there is no blob \(hash)"
    case .damaged(let hash, let damage): "the blob \(hash) is \(damage.rawValue)"
    case .away(let words): "the blob store is away: \(words)"
    case .system(let error): "blob store: \(error)"
    }
  }

  /// How the blob that was asked for is damaged; nil: it is something else.
  package var damage: BlobDamage? {
    switch self {
    case .missing: .missing
    case .damaged(_, let damage): damage
    case .system(let error) where Self.damages.contains(error.code): .corrupt
    case .away, .system: nil
    }
  }

  // By these a file system says that it is the file, not the way to it.
  private static let damages: Set<Int32> = [EIO, EISDIR, ELOOP, EILSEQ, EUCLEAN]
}
