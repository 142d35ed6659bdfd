internal import Crypto
internal import HTTPServer

/// The description of the API for programs.
extension ControlAPI {
  var documentRoutes: [Route] { [Route("GET", "/openapi.json", handler: Self.readDocument)] }

  private static let document = Representation(
    length: Int64(PackageResources.openapi_json.count),
    entityTag: EntityTag(strong: SHA256.digest(of: PackageResources.openapi_json).hex),
    // To be asked for anew each time: it changes with the program.
    headers: ["Content-Type": "application/json", "Cache-Control": "public, no-cache"])

  @Sendable
  private static func readDocument(_ request: Request) throws -> Response {
    try document.respond(to: request) { range in
      .bytes(Array(PackageResources.openapi_json[Int(range.lowerBound)..<Int(range.upperBound)]))
    }
  }
}
