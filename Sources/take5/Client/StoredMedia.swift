import Model

/// A post or an image that a service has stored: the wait for its media, their files in a folder, and the result of the command.
struct StoredMedia: Sendable {
  /// The time between two looks for the job of a post.
  private static let pollInterval = Duration.milliseconds(300)

  let service: ServiceClient
  let resource: MediaResource
  let id: PublicID
  /// Whether the command ends only when the media are processed.
  let waits: Bool
  /// Where the media are saved; nil: nowhere.
  let folder: SavedMedia?
  let arguments: Arguments

  /// As `result(of:)`, for what the command itself has submitted: a failure names the post and the command that continues.
  func finish(_ submitted: MediaResponse) async throws -> ExitStatus {
    do {
      return try await result(of: submitted)
    } catch {
      throw CommandFailure(cancellable: error).adding("\(resource.rawValue) \(id) is stored", remedy: remedy)
    }
  }

  /// Waits and saves as far as the options ask for it, prints the result, and returns the exit status.
  func result(of submitted: MediaResponse) async throws -> ExitStatus {
    var media = try await judged(submitted)
    var job: JobResponse?
    if waits, let id = media.job?.id {
      job = try await ended(id)
      if media.status == .processing { media = try await service.media(self.id, resource) }
    }
    let isJSON = arguments.has(Option.json.name)
    if !waits, [.processing, .ready, .held].contains(media.status) {
      let status = media.status.rawValue
      try Console.print(
        isJSON ? try JSON.text(["id": "\(id)", "status": status]) : "\(resource.rawValue) \(id) is \(status)")
      return .success
    }
    var saved: [MediaName: String] = [:]
    if let folder {
      saved = try await folder.save(media, from: service)
      if saved.isEmpty, media.status == .ready {
        Console.note("take5: \(resource.rawValue) \(id) has no media to save")
      }
    }
    let report = MediaReport(resource, media, job: job, saved: saved) { service.url(of: $0) }
    try Console.print(isJSON ? try JSON.text(report) : report.result(explains: arguments.has("--explain")))
    return switch media.status {
    case .ready, .held, .hidden: .success
    case .rejected: .rejected
    case .processing, .failed, .replaced: .unavailable
    }
  }

  /// Waits until the service has looked at the files of a post: it has a job then, needs none, or is rejected. A post that is
  /// stored before its files have arrived gets it after the response to the last byte.
  ///
  /// Without `waits`, a key that may submit but not read suffices: then the outcome is not known.
  private func judged(_ submitted: MediaResponse) async throws -> MediaResponse {
    var media = submitted
    while media.job == nil, media.status == .processing {
      guard let current = try await service.media(id, resource, unless: waits ? [] : [403]) else {
        Console.note("take5: whether the media are accepted is not known: the API key lacks the scope 'read'")
        return media
      }
      media = current
      if media.job == nil, media.status == .processing { try await Task.sleep(for: Self.pollInterval) }
    }
    return media
  }

  /// Waits until a job has ended; nil if the service does not have it any more.
  private func ended(_ job: PublicID) async throws -> JobResponse? {
    let bar = ProgressBar("processing")
    defer { bar.clear() }
    while true {
      // A progress bar needs an update every second; without one, the service responds when the job finishes.
      let current = try await service.job(job, waiting: Console.isErrorTerminal ? 1 : 30)
      guard let current, !current.state.isFinal else { return current }
      bar.show(current.progress, stage: current.state == .executing ? current.stage ?? "" : "waiting for a worker")
      try Task.checkCancellation()
    }
  }

  /// The commands that go on after a failure, with the options that name the service.
  private var remedy: String {
    let options = [Option.server, .certificates, .apiKey].compactMap { option -> String? in
      guard let setting = arguments.setting(option.name), case .option = setting.source else { return nil }
      return " \(option.name) \(ShellWord.quoted(setting.text))"
    }.joined()
    if let folder { return "to continue: take5 posts save \(id) \(ShellWord.quoted(folder.folder))\(options)" }
    return "to look: take5 posts show \(id)\(options); to save: take5 posts save \(id) DIR\(options)"
  }
}
