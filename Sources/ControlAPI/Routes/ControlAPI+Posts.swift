internal import HTTPServer
internal import Model

extension ControlAPI {
  var postRoutes: [Route] {
    [
      route("POST", "/v1/posts", bodyLimit: SubmissionForm.mostBytes(clipBytes: limits.bytes), handler: submit),
      route("GET", "/v1/posts/{id}", handler: readPost),
    ]
  }

  /// Takes a moment in: both clips and the post, answered before any work is done.
  private func submit(_ request: Request) async throws -> Response {
    let form = try await SubmissionForm(request, blobs: blobs, clipBytes: limits.bytes)
    let reasons = try form.reasons(limits: limits)
    guard reasons.isEmpty else {
      throw ProblemKind.mediaRejected.problem(reasons.map(\.detail).joined(separator: " "), reasons: reasons)
    }
    let post = try await store.submit(form.draft, clips: form.clips, requestID: request.id.description)
    return .json(.accepted, try JSON.encode(PostAnswer(post)), headers: ["Location": PostAnswer.path(post.id)])
  }

  private func readPost(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    guard let id = PublicID(text), let post = try await store.post(id) else {
      throw ProblemKind.postNotFound.problem("There is no post \(text).")
    }
    return .json(.ok, try JSON.encode(PostAnswer(post)), headers: ["Cache-Control": "no-store"])
  }
}
