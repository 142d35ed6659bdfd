import Blobs
import Crypto
import Model
import Platform
import Postgres
import Rooms
import Store

/// A file of a post or an image in the store.
struct StoredFile: Sendable {
  let stored: StoredAsset
  let name: MediaName

  /// - Parameter hasPhotos: whether photos are numbered: a post may have several, an image is one.
  private init(_ stored: StoredAsset, hasPhotos: Bool) {
    self.stored = stored
    let role = stored.asset.role
    let isPhoto = role.isOfPhoto || role == .sourcePhoto
    name = MediaName(photo: hasPhotos && isPhoto ? stored.asset.place : nil, role: role)
  }

  var isSource: Bool { stored.asset.role.isSource }
  /// Its name in a folder, such as `composed.mp4` or `2.photo.large.jpg`.
  var fileName: String { name.fileName(ending: stored.asset.fileExtension) }

  /// The outputs by photo and role, then the sources.
  private var order: (Int, Int, Int) {
    (isSource ? 1 : 0, name.photo ?? 0, Role.allCases.firstIndex(of: name.role) ?? 0)
  }

  /// Reads the files of a post or an image; nil if the store has none with this id.
  static func all(of id: PublicID, _ session: Session) throws -> [StoredFile]? {
    let isPost = try Posts.exists("\(id)", for: .unrestricted, session)
    let owned =
      try isPost ? Exporting.assets(ofPosts: [id], session) : Exporting.assets(ofImages: [id], session)
    guard try isPost || owned[id] != nil || Images.find(id, for: .unrestricted, session) != nil else { return nil }
    return try (owned[id] ?? []).compactMap { asset in
      try Assets.find(asset.id, for: .unrestricted, session).map { StoredFile($0, hasPhotos: isPost) }
    }.sorted { $0.order < $1.order }
  }

  /// Writes the content to an open file; throws `.damaged` if it is missing, or what was written is not what the hash says.
  ///
  /// - Parameter path: for messages.
  func copy(from blobs: any BlobStore, to file: OpenFile, at path: String) throws {
    if let inline = stored.inline { return try OutputFile.write(inline, to: file, at: path) }
    if let damage = stored.damage, damage.isRecorded { throw BlobError.damaged(stored.hash, damage.kind) }
    try OutputFile.write(blobs, stored.hash, bytes: stored.asset.bytes, to: file, at: path)
  }
}

/// The files of `take5 posts export`. They appear together, and replace nothing.
enum PostExport {
  /// Writes files to a folder, which is created if it does not exist; returns the reports with their paths.
  static func write(_ files: [StoredFile], from blobs: any BlobStore, to path: String) throws -> [StoredFileReport] {
    guard !files.isEmpty else { return [] }
    let folder = try OutputFolder(path)
    let paths = Dictionary(uniqueKeysWithValues: files.map { ($0.name, "\(folder.path)/\($0.fileName)") })
    var outputs = try OutputFiles(new: paths)
    for file in files {
      guard let output = outputs.opened[file.name], let path = paths[file.name] else { continue }
      try Task.checkCancellation()
      do {
        try file.copy(from: blobs, to: output, at: path)
      } catch let error as BlobError {
        guard let damage = error.damage else { throw error }
        throw CommandFailure(
          .io, "\(file.fileName) is \(damage.rawValue) in the store: nothing is exported",
          remedy: file.isSource
            ? "restore the blob \(file.stored.hash.hex) from a backup, or omit --sources"
            : "'take5 verify --repair' makes damaged outputs again from their sources")
      }
    }
    _ = try outputs.commit()
    return files.map { StoredFileReport($0, path: paths[$0.name]) }
  }
}
