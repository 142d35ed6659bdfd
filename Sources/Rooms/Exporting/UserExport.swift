package import Blobs
import FoundationEssentials
internal import Model
internal import Platform
package import Postgres
internal import Store

/// Everything of a user as a ZIP archive, which is made while it is received.
///
/// Records are read in pages, each from a snapshot of its own, and files in pieces. The next piece is made once the receiver
/// has the one before, so that neither the archive nor a file is ever in memory.
package struct UserExport: Sendable {
  private static let pageSize = 100
  private static let pieceBytes = 256 << 10
  /// The time for which an archive waits for a file, or for a piece of one: longer than a request, for no other waits behind it.
  private static let timeout = Duration.seconds(120)

  private let user: String
  private let reads: BlobReads
  private let database: Pool
  private let receive: @Sendable ([UInt8]) async throws -> Void

  /// - Parameter receive: takes the next bytes of the archive.
  package init(
    user: String, reads: BlobReads, database: Pool,
    receive: @escaping @Sendable ([UInt8]) async throws -> Void
  ) {
    self.user = user
    self.reads = reads
    self.database = database
    self.receive = receive
  }

  /// Makes the archive; returns the paths of the files that it lacks, because they were deleted meanwhile or are damaged.
  @discardableResult
  package func run() async throws -> [String] {
    var archive = try ArchiveWriter()
    var missing: [String] = []
    let user = user
    let profile = try await database.read { try People.find(user, for: .user(user), $0) }?.profile
    try await add(ExportedProfile(id: user, profile: profile ?? Profile()), as: "profile.json", to: &archive)
    try await addPosts(to: &archive, &missing)
    try await addImages(to: &archive, &missing)
    for export in [any Room.Type].all.flatMap({ $0.exports }) { try await add(export, to: &archive) }
    if !missing.isEmpty { try await add(missing, as: "missing.json", to: &archive) }
    try archive.finish()
    try await flush(&archive)
    return missing
  }

  private func addPosts(to archive: inout ArchiveWriter, _ missing: inout [String]) async throws {
    let user = user
    let filter = PostFilter(authors: [user], statuses: Set(PostStatus.allCases))
    var page = PageRequest(limit: Self.pageSize)
    var number = 0
    repeat {
      let (posts, assets) = try await database.read { [page] session in
        let posts = try Posts.list(filter, for: .unrestricted, page, session)
        return (posts, try Exporting.assets(ofPosts: posts.items.map(\.id), session))
      }
      number += 1
      let records = posts.items.map { ExportedPost(post: $0, files: ExportedFile.all(of: $0.id, assets[$0.id] ?? [])) }
      if !records.isEmpty { try await add(records, as: "posts/\(number).json", to: &archive) }
      for record in records { try await add(record.files, record.post.createdAt, to: &archive, &missing) }
      page.after = posts.next
    } while page.after != nil
  }

  private func addImages(to archive: inout ArchiveWriter, _ missing: inout [String]) async throws {
    var (last, number): (Int64, Int) = (0, 0)
    let user = user
    while true {
      let page = try await database.read { [last] in
        try Images.exported(of: user, after: last, limit: Self.pageSize, $0)
      }
      let images = page.items
      guard !images.isEmpty else { return }
      last = page.last
      let assets = try await database.read { try Exporting.assets(ofImages: images.map(\.id), $0) }
      number += 1
      let records = images.map { image in
        ExportedImage(image: image, files: ExportedFile.all(of: image.id, assets[image.id] ?? []))
      }
      try await add(records, as: "images/\(number).json", to: &archive)
      for record in records { try await add(record.files, record.image.createdAt, to: &archive, &missing) }
    }
  }

  /// Adds records in pages, each a file of its own.
  private func add(_ export: Export, to archive: inout ArchiveWriter) async throws {
    var (last, number): (Int64, Int) = (0, 0)
    let user = user
    while true {
      let page = try await database.read { [last] in
        try export.page(of: user, after: last, limit: Self.pageSize, $0)
      }
      guard !page.items.isEmpty else { return }
      (last, number) = (page.last, number + 1)
      try await add(page.items.map(ExportedRecord.init), as: "\(export.folder)/\(number).json", to: &archive)
    }
  }

  private func add(_ value: some Encodable, as path: String, to archive: inout ArchiveWriter) async throws {
    let bytes = try JSON.encode(value)
    try archive.begin(path, bytes: Int64(bytes.count), modifiedAt: Int(Date().timeIntervalSince1970), .deflate)
    try archive.write(bytes)
    try await flush(&archive)
  }

  /// Adds files. One that was deleted in the meantime or is damaged is missing.
  private func add(
    _ files: [ExportedFile], _ date: Date, to archive: inout ArchiveWriter, _ missing: inout [String]
  ) async throws {
    for file in files {
      guard let content = try await content(of: file) else {
        missing.append(file.path)
        continue
      }
      let length = file.asset.bytes
      try archive.begin(file.path, bytes: length, modifiedAt: Int(date.timeIntervalSince1970), .none)
      for offset in stride(from: 0, to: length, by: Self.pieceBytes) {
        let count = Int(min(Int64(Self.pieceBytes), length - offset))
        try archive.write(try await bytes(of: content, at: offset, count: count))
        try await flush(&archive)
      }
    }
  }

  /// Opens a file; nil if it was deleted in the meantime or is damaged. Another error says nothing of the file, and ends the
  /// archive.
  private func content(of file: ExportedFile) async throws -> FileContent? {
    guard let stored = try await database.read({ try Assets.find(file.asset.id, for: .unrestricted, $0) }) else {
      return nil
    }
    if let bytes = stored.inline { return .bytes(bytes) }
    do throws(BlobError) {
      return .file(try await reads.open(stored, within: Self.timeout))
    } catch {
      if error.damage != nil { return nil }
      throw error
    }
  }

  /// Throws if the file is shorter than it should be.
  private func bytes(of content: FileContent, at offset: Int64, count: Int) async throws -> [UInt8] {
    switch content {
    case .bytes(let bytes): return Array(bytes[Int(offset)..<Int(offset) + count])
    case .file(let file):
      let bytes = try await reads.bytes(of: file, at: offset, count: count, within: Self.timeout)
      guard bytes.count == count else { throw BlobError.unavailable("a file is too short") }
      return bytes
    }
  }

  private func flush(_ archive: inout ArchiveWriter) async throws { try await receive(archive.take()) }
}

/// The bytes of an asset, in the database or in a file.
private enum FileContent {
  case bytes([UInt8])
  case file(OpenFile)
}
