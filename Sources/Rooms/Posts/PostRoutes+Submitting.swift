internal import Blobs
internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// The life of the submission of a post, step by step.
extension PostRoutes {
  /// Stores a post and its media. They are durable on disk when it returns, but not processed yet; bytes of the uploads that
  /// it names may be still to come.
  func submitPost(_ request: Request) async throws -> StoredSubmission {
    // Media are staged and hashed as they arrive.
    let form = try await form(of: request)
    _ = try request.caller.author(form.draft.author)
    try access.countSubmission(of: form.draft.author, request)
    let kind = SubmissionKind(form.draft.kind)
    let (sources, definition) = try checked(form)
    try await submissions.prepare(sources)
    let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
    // A submission that names uploads is the same if it names the same: their content is gone once it is stored.
    let content = sources.flatMap { [Array($0.role.rawValue.utf8), $0.content.hash.bytes] }
    let payload = form.text + (form.references == nil ? content : [])
    let senders = kit.quotas.senders(request.caller, author: form.draft.author)
    let isHeld = definitions.holds(form.draft.kind)
    let bytes = form.references == nil ? sources.map(\.content.bytes).reduce(0, +) : 0
    let began = try began(form, request)
    let stored = try await storeOnce(request, kind, payload: payload, publishing: sources) { session in
      let id: PublicID
      switch form.content {
      case .missing(let problem): throw problem
      case .awaited(let uploads):
        id = try AwaitedUploads.submit(
          form.draft, awaiting: uploads,
          punctuality: Window.judge(form.draft, began: began, definition.window, session),
          isHeld: isHeld, request: request.jobRequest, session)
      case .files:
        id = try store.submitPost(
          form.draft, sources: sources, definition: definition,
          punctuality: Window.judge(form.draft, began: began, definition.window, session), isHeld: isHeld,
          request: request.jobRequest, session)
      }
      guard let submission = try StoredSubmission(.post(id), viewer, urls, session) else {
        throw Self.notFound(.post, id)
      }
      // Last, because other submissions of the senders wait for the commit.
      try Quotas.charge(senders, DailyUsage(posts: 1, bytes: bytes), session)
      return submission
    }
    switch (form.content, stored.subject) {
    case (.awaited(let awaited), .post(let id)): uploads.register(awaited, awaitedBy: id)
    // The first request may have stored a post that still awaits what is whole by now.
    case (.files, .post(let id)) where stored.isReplay: uploads.awaitingPosts.reconsider(id)
    case (.files, _): uploads.remove((form.references?.all ?? []).map(\.upload))
    default: break
    }
    if !stored.isReplay, case .files = form.content { kit.metrics.count(form.draft.kind.rawValue, sources) }
    return stored
  }

  /// When the client began to send the media: it created the first upload, or sent the request.
  private func began(_ form: SubmissionForm, _ request: Request) throws -> ContinuousClock.Instant {
    guard let created = try uploads.creation(of: form.references) else { return request.body.arrival }
    return .now - .seconds(max(0, UploadClock.now.timeIntervalSince(created)))
  }

  private func form(of request: Request) async throws -> SubmissionForm {
    let limits = formLimits
    guard JSONBody.isPlain(request) else {
      return try await .form(of: request, space: submissions.space, limits: limits, definitions: definitions)
    }
    return try await .json(of: request, limits: limits, defined: definitions.fields.posts) { references in
      try uploads.content(of: references, for: request.caller, accepting: definitions.accepted)
    }
  }

  var formLimits: SubmissionForm.PartLimits {
    let photos = definitions.photos[SubmissionDefinitions.photoPost]
    return SubmissionForm.PartLimits(
      momentBytes: definitions.moment.limits.bytes, clipBytes: definitions.clip.limits.bytes,
      photoBytes: photos?.limits.bytes ?? 0, photos: photos?.photos ?? 0)
  }

  /// Returns the media of a post as assets, with the definition that they are processed with; throws a problem if they are refused.
  /// What is still to come is judged once it is there.
  private func checked(_ form: SubmissionForm) throws -> ([NewAsset], MediaDefinition) {
    guard case .files(let media) = form.content else { return ([], .clips(definitions.moment)) }
    return (try media.sources(), definitions.definition(of: media))
  }
}
