import Model
import Platform

/// A definition in a file of a folder.
struct DefinitionFile {
  let path: String
  let bytes: [UInt8]
  let document: DefinitionDocument
}

/// Definitions in the files of a folder.
enum DefinitionFolder {
  /// The maximum length of a definition, in bytes.
  private static let maxBytes = 1 << 20

  /// Reads the files `*.json` of the folder that an option names, in the order of their names; none without the option.
  ///
  /// - Parameter failures: gets what is wrong with each file, also the second one of a name: which of both is meant is not known.
  static func read(
    _ option: Option, _ arguments: Arguments, _ failures: inout [CommandFailure]
  ) -> [DefinitionFile] {
    guard let folder = arguments.value(option.name) else { return [] }
    let names: [String]
    do throws(SystemError) { names = try Folder.names(in: folder) } catch {
      failures.append(
        CommandFailure(
          .configuration, "\(option.name): the folder \(folder) cannot be read: \(error.reason)",
          remedy: "name a folder with \(option.name)"))
      return []
    }
    var files: [DefinitionFile] = []
    for name in names.sorted() where name.hasSuffix(".json") {
      let path = "\(folder)/\(name)"
      guard let bytes = bytes(of: path, option, &failures) else { continue }
      do {
        let document = try DefinitionDocument(bytes)
        try document.checkFaults()
        guard let other = files.first(where: { $0.document.name == document.name }) else {
          files.append(DefinitionFile(path: path, bytes: bytes, document: document))
          continue
        }
        failures.append(
          CommandFailure(
            .configuration, "\(other.path) and \(path) both have the name '\(document.name)'",
            remedy: "keep one of them in the folder, or rename the other, such as to \(name).old"))
      } catch {
        failures.append(failure(path, JSON.reason(error)))
      }
    }
    return files
  }

  /// Uses the definition of a file; the reason for which that is refused becomes a failure that names the file.
  static func use(
    _ path: String, _ failures: inout [CommandFailure], _ body: () throws(UnfitDefinition) -> Void
  ) {
    do throws(UnfitDefinition) { try body() } catch { failures.append(failure(path, error.description)) }
  }

  private static func bytes(of path: String, _ option: Option, _ failures: inout [CommandFailure]) -> [UInt8]? {
    do throws(SystemError) {
      let bytes = try Descriptor(reading: path).bytes(count: maxBytes + 1, at: 0)
      if bytes.count <= maxBytes { return bytes }
      failures.append(failure(path, "it has more than \(maxBytes) bytes"))
    } catch {
      failures.append(
        CommandFailure(
          .configuration, "\(option.name): \(path) cannot be read: \(error.reason)",
          remedy: "check the permissions of the file, or remove it from the folder"))
    }
    return nil
  }

  private static func failure(_ path: String, _ reason: String) -> CommandFailure {
    CommandFailure(
      .configuration, "\(path) is no valid definition: \(reason)",
      remedy: "correct the file, or remove it; 'take5 definition write NAME --to DIR' writes a built-in one")
  }
}
