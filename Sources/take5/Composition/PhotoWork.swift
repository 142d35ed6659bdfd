import Definitions
import Glibc
import MediaProcess
import Model
import Platform

/// Photo work without a service: the same media process and the same plan, on files named on the command line.
struct PhotoWork {
  private let definition: PhotoDefinition
  private let slot: MediaSlot
  private let cancellation = CancellationFlag()

  init(_ arguments: Arguments) throws {
    definition = try Self.definition(arguments.value("--definition") ?? Definitions.photoNames[0])
    slot = try MediaSlot(name: "media", configuration: MediaProcess.Configuration(arguments))
  }

  /// The built-in definition of a name, or one in a file.
  private static func definition(_ name: String) throws -> PhotoDefinition {
    if let definition = try Definitions.photo(name) { return definition }
    guard name.contains("/") || name.hasSuffix(".json") else {
      throw CommandFailure(
        .usage, "there is no definition '\(name)'",
        remedy: "name one of \(Definitions.photoNames.joined(separator: ", ")), or a file by its path")
    }
    let text = try InputText.read(name)
    do {
      return try JSON.decode(PhotoDefinition.self, from: text)
    } catch {
      throw CommandFailure(
        .usage, "\(name) is no definition: \(JSON.reason(error))", remedy: "compare it with jobs/photo-post.json")
    }
  }

  /// Makes the variants of one photo; whatever becomes of it is told in the answer.
  ///
  /// - Parameter inputs: what is never replaced, beside the photo itself.
  func answer(
    _ path: String, folder: String, replacing: Bool, sparing inputs: Set<FileIdentity>
  ) async throws(CommandFailure) -> PhotoAnswer {
    do {
      let input = try InputFile(.photo, path: path)
      var files = try OutputFiles(
        paths(of: path, in: folder), replacing: replacing, sparing: inputs.union([input.identity]))
      let report = try await withTaskCancellationHandler {
        try await slot.photo(
          definition.plan, photo: input.descriptor.number, outputs: files.numbers,
          deadline: .seconds(definition.deadlineSeconds), cancellation: cancellation)
      } onCancel: {
        cancellation.cancel()
      }
      let paths = report.reason == nil ? try files.commit() : [:]
      return PhotoAnswer(file: path, report: report, paths: paths)
    } catch let failure as MediaFailure where failure.refusalCode != nil {
      return PhotoAnswer(file: path, failure: failure)
    } catch {
      let failure = (error as? MediaFailure).map { CommandFailure($0, writing: folder) } ?? CommandFailure(error)
      // What ends the command is no fault of this photo.
      if failure.status == .interrupted || failure.message == nil { throw failure }
      return PhotoAnswer(file: path, failure: failure)
    }
  }

  /// Where the variants of a photo go, by role: `IMG_1.HEIC` becomes `IMG_1.large.jpg`.
  private func paths(of photo: String, in folder: String) -> [Role: String] {
    let name = photo.split(separator: "/").last.map(String.init) ?? photo
    let stem = name.lastIndex(of: ".").map { $0 > name.startIndex ? String(name[..<$0]) : name } ?? name
    var paths: [Role: String] = [:]
    for (role, variant) in definition.plan.variants {
      let suffix = role.rawValue.hasPrefix("photo.") ? String(role.rawValue.dropFirst(6)) : role.rawValue
      let ending = variant.format.map { $0 == .jpeg ? "jpg" : $0.rawValue } ?? "jpg"
      paths[role] = "\(folder)/\(stem).\(suffix).\(ending)"
    }
    return paths
  }

  /// Ends the media process.
  func stop() async { await slot.stop() }
}
