import Model
import Platform

/// The files that the variants of one photo are written to; they appear when all are whole.
struct PhotoFiles: ~Copyable {
  private var files: [Role: Box] = [:]
  private let replacing: Bool

  // A dictionary cannot hold a value with a single owner: each file lies in a box of its own.
  private final class Box {
    var file: OutputFile?
    let path: String
    let number: Int32

    init(_ path: String, replacing: Bool) throws(CommandFailure) {
      if !replacing, OutputFile.exists(path) { throw OutputFile.isThere(path) }
      let opened = try OutputFile(path: path)
      self.path = path
      number = opened.descriptor.number
      file = consume opened
    }
  }

  /// - Parameters:
  ///   - photo: the path of the photo, whose name the variants get: `IMG_1.HEIC` becomes `IMG_1.large.jpg`.
  ///   - replacing: whether files that are there already may be replaced.
  init(of photo: String, plan: PhotoPlan, folder: String, replacing: Bool) throws(CommandFailure) {
    self.replacing = replacing
    let name = photo.split(separator: "/").last.map(String.init) ?? photo
    let stem = name.lastIndex(of: ".").map { $0 > name.startIndex ? String(name[..<$0]) : name } ?? name
    for (role, variant) in plan.variants {
      let suffix = role.rawValue.hasPrefix("photo.") ? String(role.rawValue.dropFirst(6)) : role.rawValue
      let ending = variant.format.map { $0 == .jpeg ? "jpg" : $0.rawValue } ?? "jpg"
      files[role] = try Box("\(folder)/\(stem).\(suffix).\(ending)", replacing: replacing)
    }
  }

  /// The descriptors to write to.
  var numbers: [Role: Int32] { files.mapValues(\.number) }

  /// Gives every file its name; returns their paths.
  mutating func commit() throws(CommandFailure) -> [Role: String] {
    for box in files.values { try box.file.take()?.commit(replacing: replacing) }
    return files.mapValues(\.path)
  }
}
