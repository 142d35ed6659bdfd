import Blobs
import Glibc
import Platform

/// The folder of blobs inside the data folder.
enum BlobFolder {
  /// Opens it, and makes what is missing; status 74 if it cannot be had.
  static func open(_ arguments: Arguments) throws(CommandFailure) -> FolderBlobStore {
    let data = arguments.value("--data") ?? ".take5"
    do {
      try Folder.make(data, mode: geteuid() == 0 ? 0o711 : 0o700)
      return try FolderBlobStore(folder: "\(data)/blobs")
    } catch {
      throw CommandFailure(
        .io, "the blobs in \(data) cannot be kept: \(error)", remedy: "name a folder that you may write to with --data")
    }
  }
}
