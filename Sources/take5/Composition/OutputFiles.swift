import Glibc
import Model
import Platform

/// The files that several outputs are written to, by what each is called; they get their names together, when all are whole.
struct OutputFiles<Name: Hashable & Sendable>: ~Copyable {
  private var files: [Name: Box] = [:]

  // A dictionary cannot hold a value with a single owner: each file lies in a box of its own.
  private final class Box {
    var file: OutputFile?
    let path: String
    let number: Int32
    /// Whether nothing had its path when it was opened.
    let isNew: Bool

    init(_ path: String, replacing: Bool, sparing inputs: Set<FileIdentity>) throws(CommandFailure) {
      let opened = try OutputFile(path: path, replacing: replacing, sparing: inputs)
      isNew = FileIdentity(ofPath: opened.path) == nil
      self.path = path
      number = opened.descriptor.number
      file = consume opened
    }
  }

  /// Opens a file for each; see `OutputFile.init(path:replacing:sparing:)`.
  init(_ paths: [Name: String], replacing: Bool, sparing inputs: Set<FileIdentity>) throws(CommandFailure) {
    var targets: Set<String> = []
    for (name, path) in paths.sorted(by: { $0.value < $1.value }) {
      guard targets.insert(OutputFile.target(of: path)).inserted else {
        throw CommandFailure(.usage, "\(path) is where two outputs would go", remedy: "name another file")
      }
      files[name] = try Box(path, replacing: replacing, sparing: inputs)
    }
  }

  /// The descriptors to write to.
  var numbers: [Name: Int32] { files.mapValues(\.number) }

  /// Gives every file its name, or none of them; returns their paths.
  mutating func commit() throws(CommandFailure) -> [Name: String] {
    var named: [String] = []
    // What is written to standard output cannot be taken back: it comes last.
    for box in files.values.sorted(by: { $1.path == "-" && $0.path != "-" }) {
      do throws(CommandFailure) {
        try box.file.take()?.commit()
        if box.isNew { named.append(box.path) }
      } catch {
        for path in named { unlink(path) }
        throw error
      }
    }
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
