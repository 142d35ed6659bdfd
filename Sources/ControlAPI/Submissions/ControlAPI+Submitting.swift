internal import Blobs
internal import Crypto
internal import HTTPServer
internal import ISOBaseMedia
internal import Model
internal import Queue
internal import Store
internal import Telemetry

/// The life of a submission with media, step by step.
extension ControlAPI {
  static let postsTemplate = "/v1/posts"

  /// Returns a route that receives media: its requests are uploads, whose number is limited.
  ///
  /// An upload is refused before its body is read if the limit is reached or there is too little free space. It counts
  /// until it is stored, but not while its client waits for the job.
  ///
  /// - Parameters:
  ///   - scopes: what an API key needs; an upload grant is admitted too.
  ///   - submit: stores the submission of an authorized request.
  func upload(
    _ method: String, _ template: String, scopes: Set<Scope>, bodyLimit: Int64,
    submit: @escaping @Sendable (Request) async throws -> StoredSubmission
  ) -> Route {
    route(method, template, access: .upload(scopes), bodyLimit: bodyLimit, waitsForDisk: true) { request in
      if let replayed = await replay(of: request) { return await response(to: request, awaitingJobOf: replayed) }
      try mediaSpace.check(for: request)
      try await checkQuota(request, posts: template == Self.postsTemplate ? 1 : 0, bytes: mediaSpace.bytes(of: request))
      let stored = try await submissions.admit(request) { try await submit(request) }
      return await response(to: request, awaitingJobOf: stored)
    }
  }

  /// Stores a post and its media. They are durable on disk when it returns, but not processed yet; bytes of the uploads that
  /// it names may be still to come.
  func submitPost(_ request: Request) async throws -> StoredSubmission {
    // Media are staged and hashed as they arrive.
    let form = try await form(of: request)
    _ = try request.caller.author(form.draft.author)
    try access.countSubmission(of: form.draft.author, request)
    let kind = SubmissionKind(form.draft.kind)
    let (sources, definition) = try checked(form)
    try await prepare(sources)
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    // A submission that names uploads is the same if it names the same: their content is gone once it is stored.
    let content = sources.flatMap { [Array($0.role.rawValue.utf8), $0.content.hash.bytes] }
    let payload = form.text + (form.references == nil ? content : [])
    let senders = configuration.quotas.senders(request.caller, author: form.draft.author)
    let isHeld = definitions.holds(form.draft.kind)
    let bytes = form.references == nil ? sources.map(\.content.bytes).reduce(0, +) : 0
    let stored = try await storeOnce(request, kind, payload: payload, publishing: sources) { session in
      let id: PublicID
      switch form.content {
      case .missing(let problem): throw problem
      case .awaited(let uploads):
        id = try store.submitPost(
          form.draft, awaiting: uploads, window: definitions.moment.window, isHeld: isHeld,
          request: request.jobRequest, session)
      case .files:
        id = try store.submitPost(
          form.draft, sources: sources, definition: definition, isHeld: isHeld, request: request.jobRequest, session
        )
      }
      guard let submission = try StoredSubmission(.post(id), store, viewer, urls, session) else {
        throw Self.notFound(.post, id)
      }
      // Last, because other submissions of the senders wait for the commit.
      try Quotas.charge(senders, DailyUsage(posts: 1, bytes: bytes), store, session)
      return submission
    }
    switch (form.content, stored.subject) {
    case (.awaited(let uploads), .post(let id)): try register(uploads, awaitedBy: id)
    // The first request may have stored a post that still awaits what is whole by now.
    case (.files, .post(let id)) where stored.isReplay: awaitingPosts.reconsider(id)
    case (.files, _): remove((form.references?.all ?? []).map(\.upload))
    default: break
    }
    if !stored.isReplay, case .files = form.content { count(form.draft.kind.rawValue, sources) }
    return stored
  }

  private func prepare(_ sources: [NewAsset]) async throws {
    for content in sources.map(\.content) {
      try await writes.run { [blobs] () throws(BlobError) in try blobs.prepare(content) }
    }
  }

  private func form(of request: Request) async throws -> SubmissionForm {
    let limits = formLimits
    guard JSONBody.isPlain(request) else {
      return try await .form(of: request, space: mediaSpace, limits: limits, definitions: definitions)
    }
    return try await .json(of: request, limits: limits) { references in
      try content(of: references, for: request.caller, accepting: definitions.accepted)
    }
  }

  /// Stores an image and its file. They are durable on disk when it returns, but not processed yet.
  func submitImage(_ request: Request, _ kind: ImageKind) async throws -> StoredSubmission {
    let owner = try owner(request, kind)
    if kind == .profile, !request.caller.viewer.owns(owner) {
      throw Caller.notYours("The profile image is that of another user.")
    }
    let definition = photoDefinition(kind.definition)
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
    try await prepare(source.map { [$0] } ?? [])
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
    remove((upload.references?.all ?? []).map(\.upload))
    if !stored.isReplay { count(kind.rawValue, source.map { [$0] } ?? []) }
    return stored
  }

  private func image(of request: Request, limits: PhotoLimits) async throws -> ImageUpload {
    guard JSONBody.isPlain(request) else { return try await ImageUpload(request, space: mediaSpace, limits: limits) }
    return try await ImageUpload(naming: request) { references in
      try content(of: references, for: request.caller) { _ in AcceptedMedia(photo: limits) }
    }
  }

  var formLimits: SubmissionForm.PartLimits {
    let photos = definitions.photos[SubmissionDefinitions.photoPost]
    return SubmissionForm.PartLimits(
      momentBytes: definitions.moment.limits.bytes, clipBytes: definitions.clip.limits.bytes,
      photoBytes: photos?.limits.bytes ?? 0, photos: photos?.photos ?? 0)
  }

  /// Returns a definition of photos or images by its name.
  private func photoDefinition(_ name: String) -> PhotoDefinition {
    guard let definition = definitions.photos[name] else { preconditionFailure("unknown definition '\(name)'") }
    return definition
  }

  /// Returns the media of a post as assets, with the definition that they are processed with; throws a problem if they are refused.
  /// What is still to come is judged once it is there.
  private func checked(_ form: SubmissionForm) throws -> ([NewAsset], MediaDefinition) {
    guard case .files(let media) = form.content else { return ([], .clips(definitions.moment)) }
    do throws(MediaRefusal) {
      return (try media.sources(), definition(of: media))
    } catch {
      throw error.problem
    }
  }

  /// The definition that the media of a post are processed with.
  func definition(of media: SubmissionForm.Media<JudgedFile>) -> MediaDefinition {
    switch media {
    case .moment: .clips(definitions.moment)
    case .clip: .clips(definitions.clip)
    case .photos: .photos(photoDefinition(SubmissionDefinitions.photoPost))
    }
  }

  /// Counts the media of a submission in the metrics.
  func count(_ kind: String, _ sources: [NewAsset]) {
    let bytes = sources.map(\.content.bytes).reduce(0, +)
    metrics.count("take5_submissions_total", "Submissions stored.", ["kind": kind])
    metrics.count(
      "take5_upload_bytes_total", "Bytes of media stored by submissions.", ["kind": kind], by: Double(bytes))
  }
}

extension Request {
  /// The request, as its job keeps it.
  var jobRequest: JobRequest { JobRequest(id: id.description, trace: trace?.description) }
}
