import Definitions
import Glibc
import MediaProcess
import Model
import Platform

/// Processes photos in local files without a service, with the same media process and the same planner.
struct LocalPhotos {
  private let definition: PhotoDefinition
  private let media: MediaProcess
  private let cancellation = CancellationFlag()

  init(_ arguments: Arguments) async throws {
    definition = try Self.definition(arguments.value("--definition") ?? Definitions.photoNames[0])
    let configuration = try MediaProcess.Configuration(arguments)
    media = try MediaProcess(name: "media", configuration: configuration)
    try await Sandbox.check(media, configuration.sandbox, loading: .linked)
  }

  /// The built-in definition of this name, or the one in the file of this path.
  private static func definition(_ name: String) throws -> PhotoDefinition {
    if let definition = try Definitions.photo(name) { return definition }
    guard name.contains("/") || name.hasSuffix(".json") else {
      throw CommandFailure(
        .usage, "unknown definition '\(name)'",
        remedy: "use one of \(Definitions.photoNames.joined(separator: ", ")), or the path of a file")
    }
    let text = try InputText.read(name, otherwise: .configuration)
    do {
      let definition = try JSON.decode(PhotoDefinition.self, written: text)
      try MediaDefinition.photos(definition).checkFaults()
      return definition
    } catch {
      throw CommandFailure(
        .configuration, "\(name) is not a definition: \(JSON.reason(error))",
        remedy: "compare it with the output of 'take5 definition show photo-post'")
    }
  }

  /// Makes the variants of one photo. A failure of this photo is part of the result; only a failure that ends the
  /// command is thrown.
  ///
  /// - Parameter inputs: the files that are never replaced, in addition to the photo itself.
  func makeVariants(
    of path: String, in folder: String, replacing: Bool, protecting inputs: Set<FileIdentity>
  ) async throws(CommandFailure) -> PhotoResult {
    do {
      let input = try InputFile(.photo, path: path)
      var files = try OutputFiles(
        paths(of: path, in: folder), replacing: replacing, protecting: inputs.union([input.identity]))
      let report = try await withTaskCancellationHandler {
        try await media.photo(
          definition.plan, photo: input.file, outputs: files.opened,
          deadline: .seconds(definition.deadlineSeconds), cancellation: cancellation)
      } onCancel: {
        cancellation.cancel()
      }
      let paths = report.reason == nil ? try files.commit() : [:]
      return PhotoResult(file: path, report: report, paths: paths)
    } catch let failure as MediaFailure where failure.refusalCode != nil {
      return PhotoResult(file: path, failure: failure)
    } catch {
      let failure = (error as? MediaFailure).map { CommandFailure($0, writing: folder) } ?? CommandFailure(error)
      // An interruption and a closed output end the command.
      if failure.status == .interrupted || failure.message == nil { throw failure }
      return PhotoResult(file: path, failure: failure)
    }
  }

  /// The paths of the variants of a photo, by role: `IMG_1.HEIC` becomes `IMG_1.large.jpg`.
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
  func stop() async { await media.stop() }
}

/// The result that `take5 photo` prints for a file.
struct PhotoResult: Encodable {
  /// The outcome for a file.
  enum Outcome: String, Encodable {
    case accepted
    case rejected
    /// The file could not be read, or its variants could not be written.
    case failed
  }

  /// One variant and its path.
  struct Output: Encodable {
    let path: String
    let type: String
    let bytes: Int64
    let width: Int
    let height: Int
  }

  let file: String
  let verdict: Outcome
  let reasons: [Reason]
  let photo: PhotoFacts?
  let decisions: [Decision]
  let thumbhash: String?
  let dominantColor: String?
  let outputs: [Role: Output]
  let error: String?
  /// The exit status if this file fails; nil on success.
  let status: ExitStatus?

  private enum CodingKeys: CodingKey {
    case file, verdict, reasons, photo, decisions, thumbhash, dominantColor, outputs, error
  }

  init(file: String, report: PhotoReport, paths: [Role: String]) {
    self.file = file
    verdict = report.reason == nil ? .accepted : .rejected
    reasons = report.reason.map { [$0] } ?? []
    photo = report.facts
    decisions = report.decisions
    thumbhash = report.thumbhash
    dominantColor = report.dominantColor
    var named: [Role: Output] = [:]
    for output in report.outputs {
      guard let path = paths[output.role] else { continue }
      named[output.role] = Output(
        path: path, type: output.type, bytes: output.bytes, width: output.width, height: output.height)
    }
    outputs = named
    error = nil
    status = report.reason == nil ? nil : .rejected
  }

  init(file: String, failure: CommandFailure) {
    self.init(
      file: file, error: [failure.message, failure.remedy].compactMap(\.self).joined(separator: "; "), failure.status)
  }

  /// If the photo may have crashed the media process, it is rejected with the code that a worker would use.
  init(file: String, failure: MediaFailure) {
    guard let reason = failure.reason(input: .photo) else {
      self.init(file: file, failure: CommandFailure(failure))
      return
    }
    self.init(file: file, report: PhotoReport(reason: reason), paths: [:])
  }

  private init(file: String, error: String, _ status: ExitStatus) {
    self.file = file
    verdict = .failed
    (reasons, photo, decisions, thumbhash, dominantColor, outputs) = ([], nil, [], nil, nil, [:])
    self.error = error
    self.status = status
  }

  /// The result as text.
  var text: String {
    if let error { return error.hasPrefix(file) ? error : "\(file): \(error)" }
    if let reason = reasons.first { return "\(file): \(reason.code.rawValue): \(reason.detail)" }
    return outputs.sorted { $0.value.width * $0.value.height > $1.value.width * $1.value.height }
      .map { "\($0.value.path)  \($0.value.width)x\($0.value.height)  \($0.value.bytes) bytes" }
      .joined(separator: "\n")
  }
}
