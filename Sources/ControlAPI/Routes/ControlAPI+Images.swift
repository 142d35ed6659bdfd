internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// Images by themselves: reactions, profile images, thumbnails of itineraries, photos of places.
extension ControlAPI {
  var imageRoutes: [Route] {
    let limit = definitions.photos.values.map(\.limits.bytes).max().map { $0 + 1 << 20 } ?? 0
    return [
      route("POST", "/v1/posts/{id}/reactions", needs: [.submit], bodyLimit: limit) {
        try await submitImage($0, .reaction)
      },
      route("GET", "/v1/posts/{id}/reactions", needs: [.read]) { try await listImages($0, .reaction) },
      route("DELETE", "/v1/posts/{id}/reactions/{image}", needs: [.delete]) { try await deleteImage($0, .reaction) },
      route("PUT", "/v1/users/{id}/profile-image", needs: [.submit], bodyLimit: limit) {
        try await submitImage($0, .profile)
      },
      route("GET", "/v1/users/{id}/profile-image", needs: [.read]) {
        try await readCurrentImage($0, .profile, role: .avatar)
      },
      route("DELETE", "/v1/users/{id}/profile-image", needs: [.delete]) { try await deleteImages($0, .profile) },
      route("PUT", "/v1/itineraries/{id}/thumbnail", needs: [.submit], bodyLimit: limit) {
        try await submitImage($0, .itinerary)
      },
      route("GET", "/v1/itineraries/{id}/thumbnail", needs: [.read]) {
        try await readCurrentImage($0, .itinerary, role: .photoMedium)
      },
      route("DELETE", "/v1/itineraries/{id}/thumbnail", needs: [.delete]) { try await deleteImages($0, .itinerary) },
      route("POST", "/v1/places/{id}/photos", needs: [.submit], bodyLimit: limit) { try await submitImage($0, .place) },
      route("GET", "/v1/places/{id}/photos", needs: [.read]) { try await listImages($0, .place) },
      route("DELETE", "/v1/places/{id}/photos/{image}", needs: [.delete]) { try await deleteImage($0, .place) },
      route("GET", "/v1/images/{id}", needs: [.read], handler: readImage),
    ]
  }

  /// The longest name of a user, an itinerary or a place, in characters.
  private static let maxOwnerLength = 200

  /// Whose image is meant: a post's id, or a name of the app's own.
  private func owner(_ request: Request, _ kind: ImageKind) throws(Problem) -> String {
    kind == .reaction ? "\(try postID(request))" : try name(request)
  }

  /// A name of the app's own in a path.
  func name(_ request: Request) throws(Problem) -> String {
    let name = request.parameter("id")
    guard 1...Self.maxOwnerLength ~= name.unicodeScalars.count, !name.unicodeScalars.contains("\0") else {
      throw ProblemKind.invalidFields.problem(
        "The name in the path is wrong.", errors: [FieldError("id", "expected 1 to \(Self.maxOwnerLength) characters")])
    }
    return name
  }

  /// Takes an image in. It is answered once everything is on the disk, before any work is done.
  private func submitImage(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let response = try await takingIn(request) { try await insertImage(request, kind) }
    return await waiting(request, for: response)
  }

  private func insertImage(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let owner = try owner(request, kind)
    let definition = try photoDefinition(kind.definition)
    let upload = try await ImageUpload(request, room: room, limits: definition.limits)
    if kind == .reaction, upload.author == nil {
      throw ProblemKind.missingPart.problem("The form lacks author.", errors: [FieldError("author", "is required")])
    }
    try access.countSubmission(of: upload.author ?? owner, request)
    let source = try Self.checkedPhotos([upload.image], limits: definition.limits)[0]
    // Before the transaction, so that it holds no lock while the disk is busy.
    try source.content.synchronize()
    let draft = ImageDraft(kind: kind, owner: owner, author: upload.author)
    let (store, urls) = (store, access.mediaURLs(for: request))
    let payload = [Array((upload.author ?? "").utf8), source.content.hash.bytes]
    let response = try await submitting(request, payload: payload) { session in
      guard
        let id = try store.submit(
          draft, source: source, definition: definition, request: request.id.description, session)
      else { throw Self.noPost(owner) }
      guard let image = try store.image(id, session) else { preconditionFailure("a transaction sees what it wrote") }
      return IdempotentAnswer(
        status: Status.accepted.code, location: ImageAnswer.path(id), body: try JSON.encode(ImageAnswer(image, urls)))
    }
    countSubmission(kind.rawValue, bytes: source.content.bytes, response)
    return response
  }

  private func readImage(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let store = store
    guard let id = PublicID(text), let image = try await database.read({ try store.image(id, $0) }) else {
      throw ProblemKind.imageNotFound.problem("There is no image \(text).")
    }
    return try .fresh(ImageAnswer(image, access.mediaURLs(for: request)))
  }

  private func listImages(_ request: Request, _ kind: ImageKind) async throws -> Response {
    var reader = QueryReader(request.target)
    let authors = reader.texts("author")
    let page = reader.page()
    try reader.finish()
    let owner = try owner(request, kind)
    let (store, urls) = (store, access.mediaURLs(for: request))
    let images = try await database.read { session in
      if kind == .reaction, try !store.hasPost(owner, session) { throw Self.noPost(owner) }
      return try store.images(kind, of: owner, by: authors, page, session)
    }
    return try .fresh(PageAnswer(images) { ImageAnswer($0, urls) })
  }

  /// The image that counts: as JSON, or its bytes for whoever accepts images.
  private func readCurrentImage(_ request: Request, _ kind: ImageKind, role: Role) async throws -> Response {
    let owner = try owner(request, kind)
    let store = store
    guard let current = try await database.read({ try store.currentImage(kind, of: owner, role: role, $0) }) else {
      throw ProblemKind.imageNotFound.problem("\(owner) has no image yet.")
    }
    if request.headers.list("Accept").contains(where: { $0.hasPrefix("image/") }) {
      return try await respond(
        with: current.content, to: request, headers: ["Cache-Control": "private, no-cache", "Vary": "Accept"])
    }
    var response = try Response.fresh(ImageAnswer(current.image, access.mediaURLs(for: request)))
    response.headers["Vary"] = "Accept"
    return response
  }

  private func deleteImage(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let text = request.parameter("image")
    let (store, owner) = (store, try owner(request, kind))
    guard let id = PublicID(text),
      try await database.transaction({ try store.delete(image: id, kind, of: owner, $0) })
    else { throw ProblemKind.imageNotFound.problem("There is no image \(text) here.") }
    return await removed()
  }

  private func deleteImages(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let (store, owner) = (store, try owner(request, kind))
    guard try await database.transaction({ try store.deleteImages(kind, of: owner, $0) }) else {
      throw ProblemKind.imageNotFound.problem("\(owner) has no image.")
    }
    return await removed()
  }
}
