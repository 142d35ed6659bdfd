import HTTPClient
import Model
import Platform

/// Something that is submitted to a service: where to, and its parts.
struct Submission: Sendable {
  /// What becomes of it, and where that is read.
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

  /// A name as a segment of a path (RFC 3986, section 2.1).
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

  /// Submits it as the options say, and tells what became of it.
  func carryOut(_ arguments: Arguments) async throws -> ExitStatus {
    let service = try Service(arguments)
    let folder = arguments.value("--save")
    let isJSON = arguments.has(Option.json.name)
    // A folder that cannot be written to is told before anything is sent.
    let made = try folder.map { path throws(CommandFailure) in try OutputFolder(path) }
    let sending = ProgressBar("sending")
    let submitted = try await service.submit(self) { sending.show($0) }
    sending.clear()
    let waits = arguments.has("--wait") || arguments.has("--explain") || folder != nil
    guard waits, let job = submitted.job else {
      try Console.print(
        isJSON
          ? try JSON.text(["id": submitted.id.description])
          : "\(resource.rawValue) \(submitted.id) is \(submitted.status.rawValue)")
      return .done
    }
    let ended = try await wait(for: job.id, of: service)
    let media = try await service.media(submitted.id, resource)
    var saved: [MediaName: String] = [:]
    if let made, media.status == .ready {
      saved = try await SavedMedia(folder: made.path, replacing: arguments.has(Option.force.name), service: service)
        .save(media)
    }
    let answer = SubmitAnswer(resource, media, job: ended, saved: saved) { service.url(of: $0) }
    try Console.print(isJSON ? try JSON.text(answer) : answer.text(explains: arguments.has("--explain")))
    return switch media.status {
    case .ready: .done
    case .rejected: .rejected
    default: .unavailable
    }
  }

  private func wait(for job: PublicID, of service: Service) async throws -> JobAnswer {
    let bar = ProgressBar("processing")
    defer { bar.clear() }
    while true {
      // Who looks at a bar wants to see it move; nobody else asks before there is something to tell.
      let now = try await service.job(job, waiting: Console.isTerminal ? 1 : 30)
      if now.state.isFinal { return now }
      bar.show(now.progress, stage: now.state == .executing ? now.stage ?? "" : "waiting for a worker")
      try Task.checkCancellation()
    }
  }
}

extension FormPart {
  /// A file that is named on the command line, as the part of a name.
  init(file: (name: String, path: String)) throws(CommandFailure) {
    // Read from any place when it is sent again, and no folder.
    _ = try InputFile(.clip, path: file.path)
    do {
      try self.init(name: file.name, path: file.path, type: "application/octet-stream")
    } catch {
      throw CommandFailure(
        .inputMissing, "\(file.path) cannot be read: \(error.reason)",
        remedy: "check the path and that you may read the file")
    }
  }
}
