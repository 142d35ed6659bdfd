import HTTPClient
import ISOBaseMedia
import Model

extension Subcommand {
  private static let author = Option("--author", "NAME", default: "me", help: "who posts, by the app's own name")
  private static let waiting = [
    Option("--wait", help: "wait until it is ready, and show how far it is"),
    Option("--save", "DIR", help: "wait, and save every asset into this folder"),
    Option("--explain", help: "wait, and print what was chosen, and why"), .force, .server, .certificates, .apiKey,
    .json,
  ]
  private static let post = [
    author, Option("--title", "TEXT", help: "of the post"), Option("--caption", "TEXT", help: "of the post"),
    Option("--visibility", "WHO", default: "public", help: "public, friends or private"),
    Option("--location", "LAT,LON", help: "where it was filmed, in degrees"),
    Option("--captured-at", "TIME", help: "when it was filmed, as 2026-11-20T18:30:00Z"),
  ]

  static let submitPost = Subcommand(
    "submit post", abstract: "Submit a moment to a running service.", operands: ["FRONT", "BACK"],
    options: post + [.foreground] + waiting,
    example: "take5 submit post samples/front.mp4 samples/back.mp4 --author ada --wait --save moment"
  ) { arguments in
    var draft = try PostDraft(arguments)
    draft.foreground = try arguments.choice(Option.foreground.name, of: Camera.self) ?? .front
    let files = try [("front", arguments.operands[0]), ("back", arguments.operands[1])].map(FormPart.init(file:))
    return try await Submission.post(draft, files).carryOut(arguments)
  }

  static let submitPhoto = Subcommand(
    "submit photo", abstract: "Submit a post of one to ten photos.", operands: ["FILE…"], options: post + waiting,
    example: "take5 submit photo still.jpg --author ada --caption 'Dusk' --save post"
  ) { arguments in
    var draft = try PostDraft(arguments)
    draft.kind = .photo
    let files = try arguments.operands.map { ("photo", $0) }.map(FormPart.init(file:))
    return try await Submission.post(draft, files).carryOut(arguments)
  }

  static let submitMarker = Subcommand(
    "submit marker", abstract: "Submit a marker of a map, with a photo or a clip or without.", operands: ["[FILE]"],
    options: post + waiting,
    example: "take5 submit marker still.jpg --author ada --title 'The gate' --location 52.52,13.405"
  ) { arguments in
    var draft = try PostDraft(arguments)
    draft.kind = .marker
    let files = try arguments.operands.map { path throws(CommandFailure) in
      let isVideo = FileSignature(try InputFile(.clip, path: path).start(FileSignature.length)).kind == .video
      return try FormPart(file: (isVideo ? "video" : "image", path))
    }
    return try await Submission.post(draft, files).carryOut(arguments)
  }

  static let submitReaction = Subcommand(
    "submit reaction", abstract: "Submit a selfie in answer to a post.", operands: ["POST", "FILE"],
    options: [author] + waiting,
    example: "take5 submit reaction 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 still.jpg --author grace --wait"
  ) { arguments in
    guard let post = PublicID(arguments.operands[0]) else {
      throw CommandFailure(.usage, "'\(arguments.operands[0])' is no post's id", remedy: "'submit post' tells it")
    }
    return try await image("POST", "/v1/posts/\(post)/reactions", arguments)
  }

  static let submitProfileImage = Subcommand(
    "submit profile-image", abstract: "Submit a user's picture, in place of the one before.",
    operands: ["USER", "FILE"], options: waiting, example: "take5 submit profile-image ada still.jpg --wait"
  ) { arguments in
    try await image("PUT", "/v1/users/\(Submission.escaped(arguments.operands[0]))/profile-image", arguments)
  }

  static let submitThumbnail = Subcommand(
    "submit thumbnail", abstract: "Submit an itinerary's picture, in place of the one before.",
    operands: ["ITINERARY", "FILE"], options: waiting, example: "take5 submit thumbnail spring still.jpg --wait"
  ) { arguments in
    try await image("PUT", "/v1/itineraries/\(Submission.escaped(arguments.operands[0]))/thumbnail", arguments)
  }

  static let submitPlacePhoto = Subcommand(
    "submit place-photo", abstract: "Submit one more photo of a place.", operands: ["PLACE", "FILE"],
    options: [author] + waiting, example: "take5 submit place-photo gate still.jpg --author ada --wait"
  ) { arguments in
    try await image("POST", "/v1/places/\(Submission.escaped(arguments.operands[0]))/photos", arguments)
  }

  private static func image(_ method: String, _ path: String, _ arguments: Arguments) async throws -> ExitStatus {
    var form = [try FormPart(file: ("image", arguments.operands[1]))]
    if let author = arguments.value(author.name) { form.append(FormPart(name: "author", text: author)) }
    return try await Submission(method: method, path: path, form: form, resource: .image).carryOut(arguments)
  }
}

extension PostDraft {
  /// A post as the options describe it.
  fileprivate init(_ arguments: Arguments) throws(CommandFailure) {
    self.init(author: arguments.value("--author") ?? "me")
    title = arguments.value("--title")
    caption = arguments.value("--caption")
    visibility = try arguments.choice("--visibility", of: Visibility.self) ?? .public
    if let text = arguments.value("--location") {
      let numbers = text.split(separator: ",").compactMap { Double($0) }
      guard numbers.count == 2, let point = Coordinate(latitude: numbers[0], longitude: numbers[1]) else {
        throw CommandFailure(.usage, "'\(text)' is no location", remedy: "write it as 52.52,13.405")
      }
      location = point
    }
    if let text = arguments.value("--captured-at") {
      guard let date = JSON.date(from: text) else {
        throw CommandFailure(.usage, "'\(text)' is no time", remedy: "write it as 2026-11-20T18:30:00Z")
      }
      capturedAt = date
    }
  }
}
