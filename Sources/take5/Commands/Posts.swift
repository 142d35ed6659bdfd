import FoundationEssentials
import Model

extension Subcommand {
  static let postsList = Subcommand(
    "posts list", abstract: "List the posts of a running service, newest first.",
    options: [
      Option("--author", "NAME", help: "posts of this author"),
      Option("--kind", "KIND", .choice(of: PostKind.self), help: "posts of this kind: take5, photo or marker"),
      Option(
        "--status", "STATUSES", .list(of: PostStatus.self),
        help: "comma-separated list of processing, ready, rejected, failed, held, hidden"),
      Option(
        "--created-after", "TIME",
        help: "posts created after this time: 2026-11-20T18:30:00Z, 2026-11-20, or 45s, 30m, 2h, 7d before now"),
      Option("--created-before", "TIME", help: "posts created before this time"),
      Option("--limit", "N", .integer(1...1000), default: "20", help: "maximum number of posts"),
    ] + Option.serviceAccess,
    example: "take5 posts list --status rejected,failed --created-after 2h"
  ) { arguments in
    let service = try ServiceClient(arguments)
    let now = Date()
    let statuses = try arguments.choices("--status", of: PostStatus.self)
    var parameters = PostStatus.allCases.filter { statuses.isEmpty || statuses.contains($0) }
      .map { (name: "status", value: $0.rawValue) }
    parameters += Visibility.allCases.map { (name: "visibility", value: $0.rawValue) }
    for (name, value) in [
      ("author", arguments.value("--author")), ("kind", try arguments.checked("--kind")),
      ("from", try arguments.time("--created-after", now: now).map(JSON.text(of:))),
      ("to", try arguments.time("--created-before", now: now).map(JSON.text(of:))),
    ] {
      if let value { parameters.append((name: name, value: value)) }
    }
    let posts = try await service.posts(parameters, limit: try arguments.number("--limit") ?? 20)
    let reports = posts.map { post in
      var report = MediaReport(.post, post) { service.url(of: $0) }
      report.decisions = nil
      return report
    }
    if arguments.has(Option.json.name) {
      for report in reports { try Console.print(try JSON.text(report)) }
    } else if reports.isEmpty {
      try Console.print("no posts found")
    } else {
      for line in MediaReport.lines(reports) { try Console.print(line) }
    }
    return .success
  }

  static let postsShow = Subcommand(
    "posts show",
    abstract: "Show a post, or an image such as a reaction: its status, why it was rejected, its media, the decisions.",
    operands: ["ID"], options: Option.serviceAccess,
    example: "take5 posts show 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let service = try ServiceClient(arguments)
    let (resource, media) = try await find(arguments, service)
    var job: JobResponse?
    if let id = media.job?.id { job = try await service.job(id, waiting: 0) }
    let report = MediaReport(resource, media, job: job) { service.url(of: $0) }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    return .success
  }

  static let postsSave = Subcommand(
    "posts save", abstract: "Wait until a post or an image is processed, and save all its assets in a folder.",
    operands: ["ID", "DIR"], options: [.force] + Option.serviceAccess,
    example: "take5 posts save 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 moment"
  ) { arguments in
    let service = try ServiceClient(arguments)
    let folder = SavedMedia(
      folder: arguments.operands[1], replacing: arguments.has(Option.force.name), inputs: [])
    let (resource, media) = try await find(arguments, service)
    return try await StoredMedia(
      service: service, resource: resource, id: media.id, waits: true, folder: folder, arguments: arguments
    ).result(of: media)
  }

  /// Reads the post or the image that the first operand names; status 66 if there is none.
  private static func find(
    _ arguments: Arguments, _ service: ServiceClient
  ) async throws -> (MediaResource, MediaResponse) {
    let id = try postID(arguments.operands[0])
    for resource in [MediaResource.post, .image] {
      if let media = try await service.media(id, resource, unless: [404]) { return (resource, media) }
    }
    throw CommandFailure(
      .inputMissing, "no post or image has the id \(id)", remedy: "'take5 posts list' lists the posts")
  }

  /// Parses the id of a post; status 64 if it is not valid.
  static func postID(_ text: String) throws(CommandFailure) -> PublicID {
    guard let id = PublicID(text) else {
      throw CommandFailure(
        .usage, "'\(text)' is not the id of a post",
        remedy: "'take5 submit' prints the id, and 'take5 posts list' lists the posts")
    }
    return id
  }
}
