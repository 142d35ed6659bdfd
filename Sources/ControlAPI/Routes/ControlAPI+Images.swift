internal import Blobs
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

extension ControlAPI {
  var imageRoutes: [Route] {
    let limit = definitions.photos.values.map(\.limits.bytes).max().map { $0 + 1 << 20 } ?? 0
    return [
      route("POST", "/v1/posts/{id}/reactions", bodyLimit: limit) { try await submitImage($0, .reaction) },
      route("GET", "/v1/posts/{id}/reactions") { try await listImages($0, .reaction) },
      route("PUT", "/v1/users/{id}/profile-image", bodyLimit: limit) { try await submitImage($0, .profile) },
      route("GET", "/v1/users/{id}/profile-image") { try await readCurrentImage($0, .profile, role: .avatar) },
      route("PUT", "/v1/itineraries/{id}/thumbnail", bodyLimit: limit) { try await submitImage($0, .itinerary) },
      route("GET", "/v1/itineraries/{id}/thumbnail") {
        try await readCurrentImage($0, .itinerary, role: .photoMedium)
      },
      route("POST", "/v1/places/{id}/photos", bodyLimit: limit) { try await submitImage($0, .place) },
      route("GET", "/v1/places/{id}/photos") { try await listImages($0, .place) },
      route("GET", "/v1/images/{id}", handler: readImage),
    ]
  }

  /// The longest name of a user, an itinerary or a place, in characters.
  private static let longestOwner = 200

  /// Takes an image in. It is answered once everything is on the disk, before any work is done.
  private func submitImage(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let owner = request.parameter("id")
    let definition = try photoDefinition(kind.definition)
    guard 1...Self.longestOwner ~= owner.unicodeScalars.count, !owner.unicodeScalars.contains("\0") else {
      throw ProblemKind.invalidFields.problem(
        "The name in the path is wrong.", errors: [FieldError("id", "expected 1 to \(Self.longestOwner) characters")])
    }
    let upload = try await ImageUpload(request, blobs: blobs, limits: definition.limits)
    if kind == .reaction, upload.author == nil {
      throw ProblemKind.missingPart.problem("The form lacks author.", errors: [FieldError("author", "is required")])
    }
    let source = try Self.checkedPhotos([upload.image], limits: definition.limits)[0]
    // Before the transaction, so that it holds no lock while the disk is busy.
    try source.content.synchronize()
    let draft = ImageDraft(kind: kind, owner: owner, author: upload.author)
    let store = store
    let image = try await database.transaction { session in
      guard
        let id = try store.submit(
          draft, source: source, definition: definition, request: request.id.description, session)
      else { throw ProblemKind.postNotFound.problem("There is no post \(owner).") }
      return try store.image(id, session)
    }
    guard let image else { preconditionFailure("a transaction sees what it wrote") }
    await announce()
    return .json(.accepted, try JSON.encode(ImageAnswer(image)), headers: ["Location": ImageAnswer.path(image.id)])
  }

  private func readImage(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let store = store
    guard let id = PublicID(text), let image = try await database.run({ try store.image(id, $0) }) else {
      throw ProblemKind.imageNotFound.problem("There is no image \(text).")
    }
    return .json(.ok, try JSON.encode(ImageAnswer(image)), headers: ["Cache-Control": "no-store"])
  }

  private func listImages(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let owner = request.parameter("id")
    let store = store
    let images = try await database.run { try store.images(kind, of: owner, $0) }
    let answer = ["items": images.map(ImageAnswer.init)]
    return .json(.ok, try JSON.encode(answer), headers: ["Cache-Control": "no-store"])
  }

  /// The bytes themselves: apps show them as they are.
  private func readCurrentImage(_ request: Request, _ kind: ImageKind, role: Role) async throws -> Response {
    let owner = request.parameter("id")
    let store = store
    guard let stored = try await database.run({ try store.currentImage(kind, of: owner, role: role, $0) }) else {
      throw ProblemKind.imageNotFound.problem("\(owner) has no image yet.")
    }
    return try respond(with: stored, to: request, cacheControl: "private, no-cache")
  }
}
