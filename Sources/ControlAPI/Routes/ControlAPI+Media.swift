internal import Blobs
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

extension ControlAPI {
  var mediaRoutes: [Route] { [route("GET", "/v1/media/{asset}", handler: readMedia)] }

  private func readMedia(_ request: Request) async throws -> Response {
    let text = request.parameter("asset")
    let store = store
    guard let id = PublicID(text), let stored = try await database.run({ try store.asset(id, $0) }),
      !stored.asset.role.isSource
    else { throw ProblemKind.mediaNotFound.problem("There is no media file \(text).") }
    // An asset's bytes never change under its id; private, because a post may be for friends.
    return try respond(with: stored, to: request, cacheControl: "private, max-age=31536000, immutable")
  }

  /// Answers with the bytes of an asset, whole or in part.
  func respond(with stored: StoredAsset, to request: Request, cacheControl: String) throws -> Response {
    let (store, asset) = (store, stored.asset)
    let representation = Representation(
      length: asset.bytes, entityTag: EntityTag(strong: asset.sha256),
      headers: [
        "Content-Type": asset.type, "X-Content-Type-Options": "nosniff",
        "Cache-Control": cacheControl,
      ])
    return try representation.respond(to: request) { range in
      if let bytes = stored.inline { return .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])) }
      let file = try store.content(of: asset)
      return .file(FileRegion(file, offset: range.lowerBound, count: Int64(range.count)))
    }
  }
}
