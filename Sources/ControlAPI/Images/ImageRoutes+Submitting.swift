internal import Blobs
internal import Crypto
internal import HTTPServer
internal import ISOBaseMedia
internal import Model
internal import Store

/// The life of the submission of an image, step by step.
extension ImageRoutes {
  /// Stores an image and its file. They are durable on disk when it returns, but not processed yet.
  func submit(_ request: Request, _ kind: ImageKind) async throws -> StoredSubmission {
    let owner = try owner(request, kind)
    if kind == .profile, !request.caller.viewer.owns(owner) {
      throw Caller.notYours("The profile image is that of another user.")
    }
    let definition = definitions.photo(kind.definition)
    let upload = try await image(of: request, limits: definition.limits)
    let author = try request.caller.author(upload.author)
    if kind == .reaction, author == nil { throw ProblemKind.missing(parts: ["author"]) }
    try access.countSubmission(of: author ?? owner, request)
    let source: NewAsset?
    do throws(MediaRefusal) {
      source = try upload.image.map { (image) throws(MediaRefusal) in
        try SubmissionForm.Media.photos([image]).sources()[0]
      }
    } catch {
      throw error.problem
    }
    try await submissions.prepare(source.map { [$0] } ?? [])
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    let draft = ImageDraft(kind: kind, owner: owner, author: author, alternativeText: upload.alternativeText)
    let texts = [upload.author ?? "", upload.alternativeText].compactMap(\.self).map { Array($0.utf8) }
    let payload = texts + [upload.text ?? source?.content.hash.bytes ?? []]
    let senders = configuration.quotas.senders(request.caller, author: author ?? owner)
    let bytes = upload.references == nil ? source?.content.bytes ?? 0 : 0
    let stored = try await storeOnce(
      request, SubmissionKind(kind), payload: payload, publishing: source.map { [$0] } ?? []
    ) { session in
      guard let source else { throw upload.refusal ?? ProblemKind.missing(parts: ["image"]) }
      let id = try store.submitImage(
        draft, for: viewer, source: source, definition: definition, request: request.jobRequest, session)
      guard let id, let submission = try StoredSubmission(.image(id), store, viewer, urls, session) else {
        throw Self.notFound(.post, owner)
      }
      try Quotas.charge(senders, DailyUsage(bytes: bytes), store, session)
      return submission
    }
    uploads.remove((upload.references?.all ?? []).map(\.upload))
    if !stored.isReplay { kit.metrics.count(kind.rawValue, source.map { [$0] } ?? []) }
    return stored
  }

  private func image(of request: Request, limits: PhotoLimits) async throws -> ImageUpload {
    guard JSONBody.isPlain(request) else { return try await ImageUpload(request, space: submissions.space, limits: limits) }
    return try await ImageUpload(naming: request) { references in
      try uploads.content(of: references, for: request.caller) { _ in AcceptedMedia(photo: limits) }
    }
  }
}
