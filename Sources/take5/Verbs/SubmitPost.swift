import FoundationEssentials
import Glibc
import Model
import Platform

extension Verb {
  static let submitPost = Verb(
    "submit post", abstract: "Submit a moment to a running service.", operands: ["FRONT", "BACK"],
    options: [
      Option("--author", "NAME", default: "me", help: "who posts, by the app's own name"),
      Option("--title", "TEXT", help: "of the post"), Option("--caption", "TEXT", help: "of the post"),
      Option("--visibility", "WHO", default: "public", help: "public, friends or private"),
      Option("--location", "LAT,LON", help: "where it was filmed, in degrees"),
      Option("--captured-at", "TIME", help: "when it was filmed, as 2026-11-20T18:30:00Z"), .foreground,
      Option("--wait", help: "wait until the post is ready, and show how far it is"),
      Option("--save", "DIR", help: "with --wait: save every asset into this folder"),
      Option("--explain", help: "with --wait: print what was chosen, and why"), .server, .certificates, .apiKey,
      .json,
    ],
    example: "take5 submit post samples/front.mp4 samples/back.mp4 --author ada --wait --save moment"
  ) { arguments in
    let service = try Service(arguments)
    let draft = try draft(arguments)
    let sending = ProgressBar("sending")
    let submitted = try await service.submit(
      draft, front: arguments.operands[0], back: arguments.operands[1]
    ) { sending.show($0) }
    sending.clear()
    guard arguments.has("--wait"), let job = submitted.job else {
      Console.print(arguments.has("--json") ? "{\"id\":\"\(submitted.id)\"}" : "post \(submitted.id) is processing")
      return .done
    }
    let ended = try await wait(for: job, of: service)
    let post = try await service.post(submitted.id)
    let saved = try await save(post, to: arguments.value("--save"), from: service)
    let answer = SubmitAnswer(post: post, job: ended, saved: saved)
    Console.print(arguments.has("--json") ? try JSON.text(answer) : answer.text(explains: arguments.has("--explain")))
    switch post.status {
    case .ready: return .done
    case .rejected: return .rejected
    case .processing, .failed: return .unavailable
    }
  }

  private static func draft(_ arguments: Arguments) throws(CommandFailure) -> PostDraft {
    var draft = PostDraft(author: arguments.value("--author") ?? "me")
    draft.title = arguments.value("--title")
    draft.caption = arguments.value("--caption")
    draft.visibility = try arguments.choice("--visibility", of: Visibility.self) ?? .public
    draft.foreground = try arguments.choice("--foreground", of: Camera.self) ?? .front
    if let text = arguments.value("--location") {
      let numbers = text.split(separator: ",").compactMap { Double($0) }
      guard numbers.count == 2, let point = Coordinate(latitude: numbers[0], longitude: numbers[1]) else {
        throw CommandFailure(.usage, "'\(text)' is no location", remedy: "write it as 52.52,13.405")
      }
      draft.location = point
    }
    if let text = arguments.value("--captured-at") {
      guard let date = JSON.date(from: text) else {
        throw CommandFailure(.usage, "'\(text)' is no time", remedy: "write it as 2026-11-20T18:30:00Z")
      }
      draft.capturedAt = date
    }
    return draft
  }

  private static func wait(for job: JobAnswer, of service: Service) async throws -> JobAnswer {
    let bar = ProgressBar("processing")
    defer { bar.clear() }
    while true {
      let now = try await service.job(job.id)
      if now.state.isFinal { return now }
      bar.show(now.progress, stage: now.state == .executing ? now.stage ?? "" : "waiting for a worker")
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  private static func save(
    _ post: PostAnswer, to folder: String?, from service: Service
  ) async throws -> [Role: String] {
    guard let folder, post.status == .ready else { return [:] }
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
      throw CommandFailure(.io, "\(folder) cannot be made: \(String(cString: strerror(errno)))")
    }
    var saved: [Role: String] = [:]
    for (role, asset) in post.assets {
      let path = "\(folder)/\(role.fileName)"
      try await service.save(asset.url, to: path)
      saved[role] = path
    }
    return saved
  }
}
