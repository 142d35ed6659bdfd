import ISOBaseMedia
import Model

extension Subcommand {
  private static let author = Option("--author", "NAME", help: "author, as the app names them")
  private static let alternativeText = Option(
    "--alternative-text", "TEXT", help: "description of the media, for people who cannot see them")
  private static let resultOptions =
    [
      Option("--wait", help: "wait until the media are processed, and show the progress"),
      Option("--save", "DIR", help: "wait, and save all assets in this folder"),
      Option("--explain", help: "wait, and print the decisions with their reasons"),
      .force,
    ] + Option.serviceAccess
  private static let postOptions = [
    author, Option("--title", "TEXT", help: "title of the post"),
    Option("--caption", "TEXT", help: "caption of the post"), alternativeText,
    Option("--visibility", "WHO", .choice(of: Visibility.self), default: "public", help: "public, friends or private"),
    Option("--location", "LAT,LON", help: "latitude and longitude of the recording, in degrees"),
    Option("--captured-at", "TIME", help: "time of the recording, such as 2026-11-20T18:30:00Z"),
  ]

  static let submitPost = Subcommand(
    "submit post", abstract: "Submit a moment to a running service.", operands: ["FRONT", "BACK"],
    options: postOptions + [.foreground] + resultOptions,
    example: "take5 submit post samples/front.mp4 samples/back.mp4 --author ada --wait --save moment"
  ) { arguments in
    var draft = try PostDraft(arguments)
    draft.foreground = try arguments.choice(Option.foreground.name, of: Camera.self) ?? .front
    let files = [
      try SubmittedFile("front", path: arguments.operands[0]), try SubmittedFile("back", path: arguments.operands[1]),
    ]
    return try await Submission.post(draft, files).run(arguments)
  }

  static let submitPhoto = Subcommand(
    "submit photo", abstract: "Submit a post of one to ten photos.", operands: ["FILE…"],
    options: postOptions + resultOptions,
    example: "take5 submit photo still.jpg --author ada --caption 'Dusk' --save post"
  ) { arguments in
    var draft = try PostDraft(arguments)
    draft.kind = .photo
    let files = try arguments.operands.map { path throws(CommandFailure) in try SubmittedFile("photo", path: path) }
    return try await Submission.post(draft, files).run(arguments)
  }

  static let submitMarker = Subcommand(
    "submit marker", abstract: "Submit a map marker with a photo, a clip or no media.", operands: ["[FILE]"],
    options: postOptions + resultOptions,
    example: "take5 submit marker still.jpg --author ada --title 'The gate' --location 52.52,13.405"
  ) { arguments in
    var draft = try PostDraft(arguments)
    draft.kind = .marker
    let files = try arguments.operands.map { path throws(CommandFailure) in
      let isVideo = FileSignature(try InputFile(.clip, path: path).prefix(FileSignature.length)).kind == .video
      return try SubmittedFile(isVideo ? "video" : "image", path: path)
    }
    return try await Submission.post(draft, files).run(arguments)
  }

  static let submitReaction = Subcommand(
    "submit reaction", abstract: "Submit a selfie as a reaction to a post.", operands: ["POST", "FILE"],
    options: [author, alternativeText] + resultOptions,
    example: "take5 submit reaction 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 still.jpg --author grace --wait"
  ) { arguments in
    let post = try postID(arguments.operands[0])
    return try await image("POST", "/v1/posts/\(post)/reactions", arguments)
  }

  static let submitProfileImage = Subcommand(
    "submit profile-image", abstract: "Submit a user's profile image; it replaces the previous one.",
    operands: ["USER", "FILE"], options: [alternativeText] + resultOptions,
    example: "take5 submit profile-image ada still.jpg --wait"
  ) { arguments in
    try await image("PUT", "/v1/users/\(Submission.escaped(arguments.operands[0]))/profile-image", arguments)
  }

  static let submitThumbnail = Subcommand(
    "submit thumbnail", abstract: "Submit an itinerary's thumbnail; it replaces the previous one.",
    operands: ["ITINERARY", "FILE"], options: [alternativeText] + resultOptions,
    example: "take5 submit thumbnail spring still.jpg --wait"
  ) { arguments in
    try await image("PUT", "/v1/itineraries/\(Submission.escaped(arguments.operands[0]))/thumbnail", arguments)
  }

  static let submitPlacePhoto = Subcommand(
    "submit place-photo", abstract: "Submit a photo of a place.", operands: ["PLACE", "FILE"],
    options: [author, alternativeText] + resultOptions,
    example: "take5 submit place-photo gate still.jpg --author ada --wait"
  ) { arguments in
    try await image("POST", "/v1/places/\(Submission.escaped(arguments.operands[0]))/photos", arguments)
  }

  /// The author; status 64 without one: no user of the app has the posts of a made-up name.
  fileprivate static func namedAuthor(of arguments: Arguments) throws(CommandFailure) -> String {
    guard let name = arguments.value(author.name) else {
      throw CommandFailure(.usage, "no author given", remedy: "name the author with --author NAME")
    }
    return name
  }

  private static func image(_ method: String, _ path: String, _ arguments: Arguments) async throws -> ExitStatus {
    var fields: [String: String] = [:]
    if arguments.command.options.contains(author) { fields["author"] = try namedAuthor(of: arguments) }
    fields["alternative_text"] = arguments.value(alternativeText.name)
    let files = [try SubmittedFile("image", path: arguments.operands[1])]
    return try await Submission(method: method, path: path, fields: fields, files: files, resource: .image)
      .run(arguments)
  }
}

extension PostDraft {
  /// Reads the options that describe a post.
  fileprivate init(_ arguments: Arguments) throws(CommandFailure) {
    self.init(author: try Subcommand.namedAuthor(of: arguments))
    title = arguments.value("--title")
    caption = arguments.value("--caption")
    alternativeText = arguments.value("--alternative-text")
    visibility = try arguments.choice("--visibility", of: Visibility.self) ?? .public
    location = try arguments.value("--location").map { text throws(CommandFailure) in try Coordinate(argument: text) }
    if let text = arguments.value("--captured-at") {
      guard let date = JSON.date(from: text) else {
        throw CommandFailure(
          .usage, "'\(text)' is not a time", remedy: "write it as in RFC 3339, such as 2026-11-20T18:30:00Z")
      }
      capturedAt = date
    }
  }
}

extension Coordinate {
  /// Parses `LAT,LON` with or without blanks; status 64 if it is not valid.
  fileprivate init(argument text: String) throws(CommandFailure) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in
      Double(part.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " "))
    }
    let problem: String
    if parts.count != 2 || numbers.count != 2 {
      problem = "two numbers are required"
    } else if let point = Coordinate(latitude: numbers[0], longitude: numbers[1]) {
      self = point
      return
    } else {
      problem = "the latitude must be from -90 to 90, and the longitude from -180 to 180"
    }
    throw CommandFailure(
      .usage, "'\(text)' is not a location: \(problem)",
      remedy: "write latitude and longitude in degrees, such as 52.52,13.405")
  }
}
