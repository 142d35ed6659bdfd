import Glibc
import Platform

/// The files of several outputs, by name. They appear at their paths together, once all are complete.
struct OutputFiles<Name: Hashable & Sendable>: ~Copyable {
  private var files: [Name: File] = [:]

  private struct File {
    let content: NoncopyableBox<OutputFile>
    let path: String
    let file: OpenFile
    /// Whether nothing existed at the path when the file was opened.
    let isNew: Bool

    init(_ path: String, replacing: Bool, protecting inputs: Set<FileIdentity>) throws(CommandFailure) {
      let opened = try OutputFile(path: path, replacing: replacing, protecting: inputs)
      isNew = FileIdentity(ofPath: opened.path) == nil
      self.path = path
      file = opened.file
      content = NoncopyableBox(opened)
    }
  }

  /// Opens a file for each path; see `OutputFile.init(path:replacing:protecting:)`.
  init(_ paths: [Name: String], replacing: Bool, protecting inputs: Set<FileIdentity>) throws(CommandFailure) {
    var targets: Set<String> = []
    for (name, path) in paths.sorted(by: { $0.value < $1.value }) {
      guard targets.insert(OutputFile.target(of: path)).inserted else {
        throw CommandFailure(
          .usage, "two outputs have the same path \(path)", remedy: "choose another file for one of them")
      }
      files[name] = try File(path, replacing: replacing, protecting: inputs)
    }
  }

  /// Opens a file for each path of a folder of `--to`; status 74 if one exists.
  init(new paths: [Name: String]) throws(CommandFailure) {
    for path in paths.values.sorted() where FileIdentity(ofPath: path) != nil {
      throw CommandFailure(.io, "\(path) already exists", remedy: "choose another folder with --to")
    }
    try self.init(paths, replacing: false, protecting: [])
  }

  /// The files to write to.
  var opened: [Name: OpenFile] { files.mapValues(\.file) }

  /// Moves all files to their paths, or none of them; returns the paths.
  ///
  /// - Parameter written: the names of the files that have a content; nil: all. The others appear nowhere.
  mutating func commit(_ written: Set<Name>? = nil) throws(CommandFailure) -> [Name: String] {
    let files = files.filter { written?.contains($0.key) ?? true }
    var created: [String] = []
    // Nothing undoes a write to standard output: it comes last.
    for file in files.values.sorted(by: { $1.path == "-" && $0.path != "-" }) {
      do throws(CommandFailure) {
        try file.content.take()?.commit()
        if file.isNew { created.append(file.path) }
      } catch {
        for path in created { unlink(path) }
        throw error
      }
    }
    return files.mapValues(\.path)
  }
}

/// A folder for output files. A folder that did not exist is created, and removed again if it stays empty.
struct OutputFolder: ~Copyable {
  let path: String
  private let isCreated: Bool

  /// Creates the folder if it does not exist; status 74 if it cannot be created.
  init(_ path: String) throws(CommandFailure) {
    self.path = path
    if mkdir(path, 0o755) == 0 {
      isCreated = true
      return
    }
    let error = SystemError(call: "mkdir", subject: path)
    isCreated = false
    guard error.code == EEXIST else { throw OutputFile.unwritable(path, error) }
    guard Folder.isFolder(path) else {
      throw CommandFailure(.io, "\(path) exists and is not a folder", remedy: "choose another folder")
    }
  }

  // rmdir(2) leaves a folder that is not empty.
  deinit { if isCreated { rmdir(path) } }
}
