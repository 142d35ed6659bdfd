import Crypto
import Platform

/// A blob that is being written: here, or by another process that was given the descriptor.
package struct StagedBlob: ~Copyable, Sendable {
  private let file: Descriptor
  private let name: StagingName?
  private var hasher = SHA256()
  private var appended: Int64 = 0

  init(_ file: consuming Descriptor, name: StagingName?) {
    self.file = file
    self.name = name
  }

  /// The open file, readable and writable, for a writer that seeks: another process, a muxer.
  package var descriptor: Int32 { file.number }

  /// How many bytes were appended here.
  package var count: Int64 { appended }

  /// Adds bytes at the end; they are hashed on the way.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
    do throws(SystemError) { try file.write(bytes) } catch { throw .system(error) }
    hasher.update(bytes)
    appended += Int64(bytes.count)
  }

  /// Ends writing; the digest of bytes that were not appended here is taken from the file.
  ///
  /// - Parameter writtenElsewhere: whether somebody else held the descriptor and may have written.
  package consuming func seal(writtenElsewhere: Bool = false) throws(BlobError) -> SealedBlob {
    do throws(SystemError) {
      let bytes = try file.size()
      let isOurs = !writtenElsewhere && bytes == appended
      let hash = isOurs ? hasher.finalize() : try SHA256.digest(of: file)
      return SealedBlob(hash: hash, bytes: bytes, file: file, name: name)
    } catch {
      throw .system(error)
    }
  }
}
