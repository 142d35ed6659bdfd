internal import Blobs
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// The routes of single posts.
struct PostRoutes: RouteRoom {
  let kit: Kit
  let submissions: MediaSubmissions
  let zones = KnownTimeZones()

  var routes: [Route] {
    [
      submissions.upload(
        "POST", "/v1/posts", posts: 1, bodyLimit: PostForm.PartLimits(definitions).formBytes, receive: receivePost),
      route("GET", "/v1/posts/{id}", access: .key([.read]), readsQuery: true, handler: readPost),
      route("PATCH", "/v1/posts/{id}", access: .key([.change, .read]), bodyLimit: JSONBody.limit, handler: changePost),
      route(
        "PUT", "/v1/posts/{id}/photos", access: .key([.change, .read]), bodyLimit: JSONBody.limit,
        handler: arrangePhotos),
      route("DELETE", "/v1/posts/{id}", access: .key([.delete]), handler: deletePost),
    ] + listRoutes
  }

  /// Reads a post and its media from a form, or from JSON that names uploads: bytes of these may be still to come.
  private func receivePost(_ request: Request) async throws -> ReceivedSubmission {
    let form = try await form(of: request)
    _ = try request.caller.author(form.draft.author)
    let began = try began(form.references, request)
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    let isHeld = definitions.holds(form.draft.kind)
    let definition =
      if case .files(let media) = form.content { definitions.definition(of: media) } else {
        MediaDefinition.clips(definitions.moment)
      }
    return ReceivedSubmission(
      kind: SubmissionKind(form.draft.kind), author: form.draft.author, content: form.content,
      references: form.references, payload: form.payload
    ) { sources, session in
      let punctuality = try Window.judge(form.draft, began: began, definition.window, session)
      let id =
        if case .awaited(let uploads) = form.content {
          try AwaitedUploads.submit(
            form.draft, awaiting: uploads, punctuality: punctuality, isHeld: isHeld, request: request.jobRequest,
            session)
        } else {
          try store.submitPost(
            form.draft, sources: sources, definition: definition, punctuality: punctuality, isHeld: isHeld,
            request: request.jobRequest, session)
        }
      guard let stored = try StoredSubmission(.post(id), viewer, urls, session) else {
        throw Self.notFound(.post, id)
      }
      return stored
    }
  }

  private func form(of request: Request) async throws -> PostForm {
    guard JSONBody.isPlain(request) else {
      return try await .form(of: request, space: submissions.space, definitions: definitions)
    }
    return try await .json(of: request, definitions: definitions) { references in
      try submissions.uploads.content(of: references, for: request.caller, accepting: definitions.accepted)
    }
  }

  /// When the client began to send the media: it created the first upload, or sent the request.
  private func began(_ references: UploadReferences?, _ request: Request) throws -> ContinuousClock.Instant {
    guard let created = try submissions.uploads.creation(of: references) else { return request.body.arrival }
    return .now - .seconds(max(0, UploadClock.now.timeIntervalSince(created)))
  }

  private func readPost(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let wait = Wait(&reader, request)
    let id = try id(.post, request)
    return try await show(
      request, postJSON(for: request), reader, after: { try await submissions.wait(wait, for: .post(id), request) },
      else: Self.notFound(.post, id)
    ) {
      let post = try Posts.find(id, for: $0, $1)
      // Who opens a post of one's own waits for it.
      if let post, post.status == .processing, wait.goal == .ready, $0.owns(post.draft.author) {
        submissions.jobs.headStarts.ask(for: post.job)
      }
      return post
    }
  }

  private func postJSON(for request: Request) -> (Post) -> PostResponse {
    let (urls, viewer) = (access.mediaURLs(for: request), request.caller.viewer)
    return { PostResponse($0, urls, for: viewer) }
  }

  private func changePost(_ request: Request) async throws -> Response {
    let id = try id(.post, request)
    if let user = request.caller.viewer.user { try access.countSubmission(of: user, request) }
    let change = try PostChange(fields: try await JSONBody.fields(of: request), defined: definitions.fields.posts)
    return try await show(request, postJSON(for: request), changing: true, else: Self.notFound(.post, id)) {
      viewer, session in
      switch try Posts.change(id, for: viewer, change, session, check: request.checkVersion) {
      case .changed: return try Posts.find(id, for: viewer, session)
      case .notFound: return nil
      case .missingText:
        throw ProblemKind.invalid([FieldError("caption", "is required without media and title")])
      }
    }
  }

  /// Changes the order of the photos, and deletes those that are not named. Their indices are those of a version.
  private func arrangePhotos(_ request: Request) async throws -> Response {
    let id = try id(.post, request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let photos: [Int]? = reader.value("photos", "expected different indices", isRequired: true, Self.indices)
    try reader.check()
    guard request.headers["If-Match"] != nil else {
      throw ProblemKind.versionRequired.problem("The request has no header field If-Match.")
    }
    try access.countSubmission(of: request.caller.viewer.user ?? "", request)
    do {
      let response = try await show(
        request, postJSON(for: request), changing: true, else: Self.notFound(.post, id)
      ) { viewer, session in
        try Posts.arrange(photos: photos ?? [], of: id, for: viewer, session, check: request.checkVersion)
      }
      _ = await collectingReleased()
      return response
    } catch let refusal as NoSuchPhotos {
      throw ProblemKind.invalid(
        refusal.indices.isEmpty
          ? [FieldError("photos", "must not be empty: delete the post instead")]
          : refusal.indices.map { FieldError("photos[\($0)]", "is not a photo of the post") })
    }
  }

  private static func indices(_ value: JSONValue) -> [Int]? {
    guard case .array(let values) = value else { return nil }
    let indices = values.compactMap { value in
      if case .number(let number) = value { Int(exactly: number) } else { nil as Int? }
    }
    return indices.count == values.count && Set(indices).count == indices.count ? indices : nil
  }

  private func deletePost(_ request: Request) async throws -> Response {
    let id = try id(.post, request)
    return try await delete(request, releasing: true, else: Self.notFound(.post, id)) {
      try Posts.delete(id, for: $0, $1, check: request.checkVersion)
    }
  }
}
