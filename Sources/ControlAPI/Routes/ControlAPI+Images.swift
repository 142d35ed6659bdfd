internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of images that are not part of a post: reactions, profile images, thumbnails of itineraries and photos of
/// places.
extension ControlAPI {
  var imageRoutes: [Route] {
    let limit = definitions.photos.values.map(\.limits.bytes).max().map { $0 + 1 << 20 } ?? 0
    return [
      upload("POST", "/v1/posts/{id}/reactions", scopes: [.submit], bodyLimit: limit) {
        try await submitImage($0, .reaction)
      },
      route("GET", "/v1/posts/{id}/reactions", access: .key([.read]), readsQuery: true) {
        try await listImages($0, .reaction)
      },
      route("DELETE", "/v1/posts/{id}/reactions/{image}", access: .key([.delete])) {
        try await deleteImage($0, .reaction)
      },
      upload("PUT", "/v1/users/{id}/profile-image", scopes: [.submit], bodyLimit: limit) {
        try await submitImage($0, .profile)
      },
      route("GET", "/v1/users/{id}/profile-image", access: .key([.read])) {
        try await readCurrentImage($0, .profile, role: .avatar)
      },
      route("DELETE", "/v1/users/{id}/profile-image", access: .key([.delete])) { try await deleteImages($0, .profile) },
      upload("PUT", "/v1/itineraries/{id}/thumbnail", scopes: [.submit], bodyLimit: limit) {
        try await submitImage($0, .itinerary)
      },
      route("GET", "/v1/itineraries/{id}/thumbnail", access: .key([.read])) {
        try await readCurrentImage($0, .itinerary, role: .photoMedium)
      },
      route("DELETE", "/v1/itineraries/{id}/thumbnail", access: .key([.delete])) {
        try await deleteImages($0, .itinerary)
      },
      upload("POST", "/v1/places/{id}/photos", scopes: [.submit], bodyLimit: limit) {
        try await submitImage($0, .place)
      },
      route("GET", "/v1/places/{id}/photos", access: .key([.read]), readsQuery: true) {
        try await listImages($0, .place)
      },
      route("DELETE", "/v1/places/{id}/photos/{image}", access: .key([.delete])) { try await deleteImage($0, .place) },
      route("GET", "/v1/images/{id}", access: .key([.read]), handler: readImage),
    ]
  }

  /// Returns the owner of an image from the path: the id of a post, or a name that the app assigned.
  func owner(_ request: Request, _ kind: ImageKind) throws(Problem) -> String {
    kind == .reaction ? "\(try postID(request))" : try name(request)
  }

  /// Returns a name that the app assigned from the path; throws a problem if it is too long.
  func name(_ request: Request, _ parameter: String = "id") throws(Problem) -> String {
    let name = request.parameter(parameter)
    guard 1...MaxLength.name ~= name.unicodeScalars.count, !name.unicodeScalars.contains("\0") else {
      throw ProblemKind.invalidFields.problem(
        "The name in the path is invalid.",
        errors: [FieldError(parameter, "expected 1 to \(MaxLength.name) characters")])
    }
    return name
  }

  private func readImage(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let (store, viewer) = (store, request.caller.viewer)
    guard let id = PublicID(text), let image = try await database.read({ try store.image(id, for: viewer, $0) }) else {
      throw ProblemKind.imageNotFound.problem("The image \(text) does not exist.")
    }
    return try .versioned(ImageResponse(image, access.mediaURLs(for: request), for: viewer), image)
  }

  private func listImages(_ request: Request, _ kind: ImageKind) async throws -> Response {
    var reader = QueryReader(request.target)
    let authors = reader.texts("author")
    let page = reader.page()
    try reader.finish()
    let owner = try owner(request, kind)
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    let images = try await database.read { session in
      if kind == .reaction, try !store.hasPost(owner, for: viewer, session) { throw Self.postNotFound(owner) }
      return try store.images(kind, of: owner, by: authors, for: viewer, page, session)
    }
    return try .uncached(PageResponse(images) { ImageResponse($0, urls, for: viewer) })
  }

  /// Returns the current image of an owner: as JSON, or its bytes if the header field `Accept` names an image type.
  private func readCurrentImage(_ request: Request, _ kind: ImageKind, role: Role) async throws -> Response {
    let owner = try owner(request, kind)
    let (store, viewer) = (store, request.caller.viewer)
    guard
      let current = try await database.read({
        try store.currentImage(kind, of: owner, role: role, for: viewer, $0)
      })
    else {
      throw ProblemKind.imageNotFound.problem("The owner '\(owner)' has no image that is ready.")
    }
    if request.headers.list("Accept").contains(where: { $0.hasPrefix("image/") }) {
      return try await respond(
        with: current.content, to: request, headers: ["Cache-Control": "private, no-cache", "Vary": "Accept"])
    }
    var response = try Response.versioned(
      ImageResponse(current.image, access.mediaURLs(for: request), for: viewer), current.image)
    response.headers["Vary"] = "Accept"
    return response
  }

  private func deleteImage(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let text = request.parameter("image")
    let (store, viewer, owner) = (store, request.caller.viewer, try owner(request, kind))
    guard let id = PublicID(text),
      try await database.transaction({ session in
        try store.delete(image: id, kind, of: owner, for: viewer, session, check: request.checkVersion)
      })
    else { throw ProblemKind.imageNotFound.problem("The owner '\(owner)' has no image with the id \(text).") }
    return await collectingReleased()
  }

  func deleteImages(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let (store, viewer, owner) = (store, request.caller.viewer, try owner(request, kind))
    let isDeleted = try await database.transaction { session in
      try store.deleteImages(kind, of: owner, for: viewer, session, check: request.checkVersion)
    }
    guard isDeleted else {
      throw ProblemKind.imageNotFound.problem("The owner '\(owner)' has no image.")
    }
    return await collectingReleased()
  }
}
