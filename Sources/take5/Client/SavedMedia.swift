import Model

/// The name of a file of a post or an image: each photo of a photo post has its own roles.
struct MediaName: Hashable, Sendable {
  /// The index of the photo, from 0; nil if the post has no photos.
  let photo: Int?
  let role: Role

  /// The name of the file in a folder, such as `composed.mp4` or `2.photo.large.jpg`.
  func fileName(ending: String) -> String { "\(photo.map { "\($0 + 1)." } ?? "")\(role.rawValue).\(ending)" }
}

/// The folder in which the outputs of a post or an image are saved.
struct SavedMedia: Sendable {
  /// The endings of files by media type.
  private static let endings = [
    "video/mp4": "mp4", "image/jpeg": "jpg", "image/webp": "webp", "image/avif": "avif",
  ]

  let folder: String
  let replacing: Bool
  /// The files that are never replaced.
  let inputs: Set<FileIdentity>

  /// Throws the failure that a save of files with these names would have now: status 74 if one of them exists or the folder cannot
  /// be written to, 64 if one is an input.
  func check(_ names: [String]) throws(CommandFailure) {
    let outputFolder = try OutputFolder(folder)
    let paths = names.map { "\(outputFolder.path)/\($0)" }.sorted()
    // One that does not exist shows whether the folder can be written to.
    for path in paths.filter({ FileIdentity(ofPath: $0) != nil }) + paths.prefix(1) {
      _ = try OutputFile(path: path, replacing: replacing, protecting: inputs)
    }
  }

  /// Downloads all assets, or none; returns their paths.
  func save(_ media: MediaResponse, from service: ServiceClient) async throws -> [MediaName: String] {
    let assets = media.assetsByName
    guard !assets.isEmpty else { return [:] }
    let outputFolder = try OutputFolder(folder)
    var paths: [MediaName: String] = [:]
    for (name, asset) in assets {
      paths[name] = "\(outputFolder.path)/\(name.fileName(ending: Self.endings[asset.type] ?? "jpg"))"
    }
    var files = try OutputFiles(paths, replacing: replacing, protecting: inputs)
    for (name, asset) in assets {
      guard let file = files.opened[name] else { continue }
      try await service.download(asset.url, to: file)
    }
    return try files.commit()
  }
}

extension Submission {
  /// The names of all files that its media may get, whatever the definitions of the service make of them.
  var fileNames: [String] {
    let fields = Set(files.map(\.field))
    if fields == ["front", "back"] { return Role.outputs.filter { $0.kind != .clip(.clip) }.map(\.fileName) }
    if fields == ["video"] {
      return Role.outputs.filter { [.clip(.clip), .still, .preview].contains($0.kind) }.map(\.fileName)
    }
    let photos: [Int?] = resource == .image ? [nil] : Array(files.indices)
    return photos.flatMap { photo in
      Role.allCases.filter(\.isOfPhoto).flatMap { role in
        ["jpg", "webp", "avif"].map { MediaName(photo: photo, role: role).fileName(ending: $0) }
      }
    }
  }
}
