import Model
import Platform

/// Which of the files of a post or an image is meant: of a post of several photos each has its own roles.
struct MediaName: Hashable, Sendable {
  /// Counted from 0; nil where there are no photos.
  let photo: Int?
  let role: Role
}

/// Saves what a service made into a folder.
struct SavedMedia: Sendable {
  let folder: String
  let replacing: Bool
  let service: Service

  /// Saves every asset, or none; returns the paths.
  func save(_ media: MediaAnswer) async throws -> [MediaName: String] {
    let named = media.named
    var paths: [MediaName: String] = [:]
    for (name, asset) in named { paths[name] = "\(folder)/\(Self.fileName(name, asset.type))" }
    var files = try OutputFiles(paths, replacing: replacing, sparing: [])
    for (name, asset) in named {
      guard let number = files.numbers[name] else { continue }
      try await service.download(asset.url, to: number)
    }
    return try files.commit()
  }

  private static func fileName(_ name: MediaName, _ type: String) -> String {
    let ending = ["video/mp4": "mp4", "image/webp": "webp", "image/avif": "avif"][type] ?? "jpg"
    return "\(name.photo.map { "\($0 + 1)." } ?? "")\(name.role.rawValue).\(ending)"
  }
}
