import HTTPClient
import Model
import Platform

/// A submission to a service: its request and the parts of its body.
struct Submission: Sendable {
  /// The kind of resource that the submission creates.
  enum Resource: String, Sendable {
    case post
    case image
  }

  let method: String
  let path: String
  let form: [FormPart]
  let resource: Resource

  static func post(_ draft: PostDraft, _ files: [FormPart]) throws -> Submission {
    let post = FormPart(name: "post", json: try JSON.encode(draft))
    return Submission(method: "POST", path: "/v1/posts", form: [post] + files, resource: .post)
  }

  /// Percent-encodes a name as a segment of a path (RFC 3986, section 2.1).
  static func escaped(_ name: String) -> String {
    name.utf8.map { byte in
      let isPlain =
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-._~".utf8.contains(byte)
      if isPlain { return String(UnicodeScalar(byte)) }
      let hex = String(byte, radix: 16, uppercase: true)
      return "%" + (hex.count == 1 ? "0" + hex : hex)
    }.joined()
  }

  /// Submits the media, waits and saves if the options ask for it, and prints the result.
  func run(_ arguments: Arguments) async throws -> ExitStatus {
    let service = try ServiceClient(arguments)
    let folder = arguments.value("--save")
    let isJSON = arguments.has(Option.json.name)
    // A folder that cannot be written to is an error before anything is sent.
    let outputFolder = try folder.map { path throws(CommandFailure) in try OutputFolder(path) }
    let sending = ProgressBar("sending")
    let submitted = try await service.submit(self) { sending.show($0) }
    sending.clear()
    let waits = arguments.has("--wait") || arguments.has("--explain") || folder != nil
    guard waits, let job = submitted.job else {
      try Console.print(
        isJSON
          ? try JSON.text(["id": submitted.id.description])
          : "\(resource.rawValue) \(submitted.id) is \(submitted.status.rawValue)")
      return .success
    }
    let finished = try await wait(for: job.id, of: service)
    let media = try await service.media(submitted.id, resource)
    var saved: [MediaName: String] = [:]
    if let outputFolder, media.status == .ready {
      saved = try await SavedMedia(
        folder: outputFolder.path, replacing: arguments.has(Option.force.name), service: service
      )
      .save(media)
    }
    let result = SubmitResult(resource, media, job: finished, saved: saved) { service.url(of: $0) }
    try Console.print(isJSON ? try JSON.text(result) : result.text(explains: arguments.has("--explain")))
    return switch media.status {
    case .ready: .success
    case .rejected: .rejected
    default: .unavailable
    }
  }

  private func wait(for job: PublicID, of service: ServiceClient) async throws -> JobResponse {
    let bar = ProgressBar("processing")
    defer { bar.clear() }
    while true {
      // A progress bar needs an update every second; without one, the service responds when the job finishes.
      let current = try await service.job(job, waiting: Console.isErrorTerminal ? 1 : 30)
      if current.state.isFinal { return current }
      bar.show(current.progress, stage: current.state == .executing ? current.stage ?? "" : "waiting for a worker")
      try Task.checkCancellation()
    }
  }
}

extension FormPart {
  /// Makes a part from a file that the command line names.
  init(file: (name: String, path: String)) throws(CommandFailure) {
    // The file must be regular: if the request is sent again, it is read again from the start.
    _ = try InputFile(.clip, path: file.path)
    do {
      try self.init(name: file.name, path: file.path, type: "application/octet-stream")
    } catch {
      throw CommandFailure(
        .inputMissing, "\(file.path) cannot be read: \(error.reason)",
        remedy: "check the path and the permissions of the file")
    }
  }
}
