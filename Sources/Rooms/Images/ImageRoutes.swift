internal import Blobs
internal import Crypto
internal import HTTPServer
internal import ISOBaseMedia
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of images that are not part of a post: reactions, profile images, thumbnails of itineraries and photos of
/// places.
struct ImageRoutes: RouteRoom {
  let kit: Kit
  let submissions: MediaSubmissions
  let media: MediaRoutes

  var routes: [Route] {
    listed(.reaction, "/v1/posts/{id}/reactions") + single(.profile, "/v1/users/{id}/profile-image", role: .avatar)
      + single(.itinerary, "/v1/itineraries/{id}/thumbnail", role: .photoMedium)
      + listed(.place, "/v1/places/{id}/photos")
      + [route("GET", "/v1/images/{id}", access: .key([.read]), readsQuery: true, handler: readImage)]
  }

  /// The maximum length of a request with an image, in bytes.
  var imageLimit: Int64 { definitions.photos.values.map(\.limits.bytes).max().map { $0 + 1 << 20 } ?? 0 }

  /// The routes of images of which an owner has many.
  private func listed(_ kind: ImageKind, _ path: String) -> [Route] {
    [
      submissions.upload("POST", path, bodyLimit: imageLimit) { try await receive($0, kind) },
      route("GET", path, access: .key([.read]), readsQuery: true) { try await listImages($0, kind) },
      route("DELETE", path + "/{image}", access: .key([.delete])) { try await deleteImage($0, kind) },
    ]
  }

  /// The routes of images of which an owner has one at a time.
  private func single(_ kind: ImageKind, _ path: String, role: Role) -> [Route] {
    [
      submissions.upload("PUT", path, bodyLimit: imageLimit) { try await receive($0, kind) },
      route("GET", path, access: .key([.read]), includes: true) { try await readCurrentImage($0, kind, role: role) },
      route("DELETE", path, access: .key([.delete])) { try await deleteAll($0, kind) },
    ]
  }

  /// Returns the owner of an image from the path: the id of a post, or a name that the app assigned.
  func owner(_ request: Request, _ kind: ImageKind) throws(Problem) -> String {
    if kind == .reaction { return "\(try id(.post, request))" }
    let name = try name(request)
    // The id of a collection in one spelling, by which its thumbnail belongs to it.
    return kind == .itinerary ? PublicID(name).map { "\($0)" } ?? name : name
  }

  private func readImage(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let wait = Wait(&reader, request)
    let (id, urls, viewer) = (try id(.image, request), access.mediaURLs(for: request), request.caller.viewer)
    return try await show(
      request, { ImageResponse($0, urls, for: viewer) }, reader,
      after: { try await submissions.wait(wait, for: .image(id), request) }, else: Self.notFound(.image, id)
    ) {
      let image = try Images.find(id, for: $0, $1)
      // Who opens an image of one's own waits for it.
      if let image, image.status == .processing, $0.owns(image.draft.author ?? image.draft.owner) {
        submissions.jobs.headStarts.ask(for: image.job)
      }
      return image
    }
  }

  private func listImages(_ request: Request, _ kind: ImageKind) async throws -> Response {
    var reader = QueryReader(request.target)
    let authors = reader.texts("author")
    let page = reader.page()
    let inclusion = try inclusion(of: StoredImage.self, &reader, request)
    try reader.finish()
    let owner = try owner(request, kind)
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    let (images, included) = try await database.read { session in
      if kind == .reaction, try !RecordID.Kind.post.exists(owner, for: viewer, session) {
        throw Self.notFound(.post, owner)
      }
      let images = try Images.list(kind, of: owner, by: authors, for: viewer, page, session)
      return (images, try inclusion.read(images.items, session))
    }
    return try .uncached(PageResponse(images) { ImageResponse($0, urls, for: viewer) }, including: included)
  }

  /// Returns the current image of an owner: as JSON, or its bytes if the header field `Accept` names an image type.
  private func readCurrentImage(_ request: Request, _ kind: ImageKind, role: Role) async throws -> Response {
    var reader = QueryReader(request.target)
    let inclusion = try inclusion(of: StoredImage.self, &reader, request)
    try reader.finish()
    let owner = try owner(request, kind)
    let missing = ProblemKind.imageNotFound.problem("The owner '\(owner)' has no image that is ready.")
    let (current, included) = try await find(request, else: missing) { viewer, session in
      try Images.current(kind, of: owner, role: role, for: viewer, session)
        .map { ($0, try inclusion.read([$0.image], session)) }
    }
    if request.headers.list("Accept").contains(where: { $0.hasPrefix("image/") }) {
      return try await media.respond(
        with: current.content, to: request, headers: ["Cache-Control": "private, no-cache", "Vary": "Accept"])
    }
    var response = try Response.versioned(
      ImageResponse(current.image, inclusion.urls, for: inclusion.viewer), current.image, including: included)
    response.headers["Vary"] = "Accept"
    return response
  }

  private func deleteImage(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let (text, owner) = (request.parameter("image"), try owner(request, kind))
    let missing = ProblemKind.imageNotFound.problem("The owner '\(owner)' has no image with the id \(text).")
    return try await delete(request, releasing: true, else: missing) { viewer, session in
      guard let id = PublicID(text) else { return false }
      return try Images.delete(id, kind, of: owner, for: viewer, session, check: request.checkVersion)
    }
  }

  func deleteAll(_ request: Request, _ kind: ImageKind) async throws -> Response {
    let owner = try owner(request, kind)
    let missing = ProblemKind.imageNotFound.problem("The owner '\(owner)' has no image.")
    return try await delete(request, releasing: true, else: missing) {
      try Images.deleteAll(kind, of: owner, for: $0, $1, check: request.checkVersion)
    }
  }

  /// Reads an image and its file from the body, from a form, or from JSON that names an upload.
  func receive(_ request: Request, _ kind: ImageKind) async throws -> ReceivedSubmission {
    let owner = try owner(request, kind)
    if kind == .profile, !request.caller.viewer.owns(owner) {
      throw Caller.notYours("The profile image belongs to another user.")
    }
    let definition = definitions.photo(kind.definition)
    let upload = try await image(of: request, limits: definition.limits)
    let author = try request.caller.author(upload.author)
    if kind == .reaction, author == nil { throw ProblemKind.missing(parts: ["author"]) }
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    let draft = ImageDraft(kind: kind, owner: owner, author: author, alternativeText: upload.alternativeText)
    let texts = [upload.author ?? "", upload.alternativeText].compactMap(\.self).map { Array($0.utf8) }
    return ReceivedSubmission(
      kind: SubmissionKind(kind), author: author ?? owner, content: upload.content, references: upload.references,
      payload: texts + [upload.identity]
    ) { sources, session in
      guard let source = sources.first else { throw ProblemKind.missing(parts: ["image"]) }
      let id = try Images.submit(
        draft, for: viewer, source: source, definition: definition, request: request.jobRequest, store, session)
      guard let id, let stored = try StoredSubmission(.image(id), viewer, urls, session) else {
        throw Self.notFound(.post, owner)
      }
      return stored
    }
  }

  private func image(of request: Request, limits: PhotoLimits) async throws -> ImageUpload {
    guard JSONBody.isPlain(request) else {
      return try await ImageUpload(request, space: submissions.space, limits: limits)
    }
    return try await ImageUpload(naming: request) { references in
      try submissions.uploads.content(of: references, for: request.caller) { _ in AcceptedMedia(photo: limits) }
    }
  }
}
