internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue

extension ControlAPI {
  var jobRoutes: [Route] { [route("GET", "/v1/jobs/{id}", handler: readJob)] }

  private func readJob(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    guard let id = PublicID(text), let job = try await database.run({ try JobQueue.find(id, $0) }) else {
      throw ProblemKind.jobNotFound.problem("There is no job \(text).")
    }
    return .json(.ok, try JSON.encode(JobAnswer(job)), headers: ["Cache-Control": "no-store"])
  }
}
