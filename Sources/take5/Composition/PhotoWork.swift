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
    let file = try InputFile(.photo, path: name)
    do {
      return try JSON.decode(PhotoDefinition.self, from: file.descriptor.bytes(count: 1 << 20, at: 0))
    } catch {
      throw CommandFailure(
        .usage, "\(name) is no definition: \(JSON.reason(error))", remedy: "compare it with jobs/photo-post.json")
    }
  }

  /// Makes the variants of one photo; whatever becomes of it is told in the answer.
  func answer(_ path: String, folder: String, replacing: Bool) async -> PhotoAnswer {
    do {
      let input = try InputFile(.photo, path: path)
      var files = try PhotoFiles(of: path, plan: definition.plan, folder: folder, replacing: replacing)
      let report = try await slot.photo(
        definition.plan, photo: input.descriptor.number, outputs: files.numbers,
        deadline: .seconds(definition.deadlineSeconds), cancellation: cancellation)
      let paths = report.reason == nil ? try files.commit() : [:]
      return PhotoAnswer(file: path, report: report, paths: paths)
    } catch let failure as CommandFailure {
      return PhotoAnswer(file: path, failure: failure)
    } catch let failure as MediaFailure {
      return PhotoAnswer(file: path, failure: failure)
    } catch {
      return PhotoAnswer(file: path, failure: CommandFailure(.internal, "\(error)"))
    }
  }

  /// Ends the media process.
  func stop() async { await slot.stop() }
}
