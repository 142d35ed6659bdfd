internal import HTTPServer
internal import Model

extension ControlAPI {
  var jobRoutes: [Route] { [route("GET", "/v1/jobs/{id}", handler: readJob)] }

  private func readJob(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    guard let id = PublicID(text), let job = try await store.job(id) else {
      throw ProblemKind.jobNotFound.problem("There is no job \(text).")
    }
    return .json(.ok, try JSON.encode(JobAnswer(job)), headers: ["Cache-Control": "no-store"])
  }
}
