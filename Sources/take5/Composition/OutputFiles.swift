import Glibc
import Model
import Platform

/// The files that a composition is written to, by role; they appear together, when all are whole.
struct OutputFiles: ~Copyable {
  private var files: [Role: Box] = [:]

  // A dictionary cannot hold a value with a single owner: each file lies in a box of its own.
  private final class Box {
    var file: OutputFile?
    let path: String
    let number: Int32

    init(_ path: String) throws(CommandFailure) {
      let opened = try OutputFile(path: path)
      self.path = path
      number = opened.descriptor.number
      file = consume opened
    }

    func commit() throws(CommandFailure) { try file.take()?.commit() }
  }

  /// - Parameters:
  ///   - composed: where the composed video goes; nil: into the folder, if there is one.
  ///   - folder: where every other output of the definition goes; it is made if it is missing.
  init(of definition: Definition, composed: String?, folder: String?) throws(CommandFailure) {
    if let folder {
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
        throw CommandFailure(.io, "\(SystemError(call: "mkdir", subject: folder))")
      }
      for role in definition.outputs.roles where role != .composed || composed == nil {
        files[role] = try Box("\(folder)/\(role.fileName)")
      }
    }
    if let composed { files[.composed] = try Box(composed) }
  }

  /// The descriptors to write to.
  var numbers: [Role: Int32] { files.mapValues(\.number) }

  /// Gives every file its name; returns their paths.
  mutating func commit() throws(CommandFailure) -> [Role: String] {
    for file in files.values { try file.commit() }
    return files.mapValues(\.path)
  }
}

extension Role {
  /// What a file of this role is called in a folder of outputs.
  var fileName: String {
    switch self {
    case .composed, .composedSwapped, .clip, .clipFront, .clipBack, .sourceClip, .sourceFront, .sourceBack:
      "\(rawValue).mp4"
    case .preview: "\(rawValue).webp"
    case .poster, .image, .thumbnail, .thumbnailFront, .thumbnailBack, .photoLarge, .photoMedium, .photoSmall,
      .photoSquare, .avatar, .avatarSmall, .sourcePhoto:
      "\(rawValue).jpg"
    }
  }
}
