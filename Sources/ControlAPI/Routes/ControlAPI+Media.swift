internal import Blobs
internal import HTTPServer
internal import Model

extension ControlAPI {
  var mediaRoutes: [Route] { [route("GET", "/v1/media/{asset}", handler: readMedia)] }

  private func readMedia(_ request: Request) async throws -> Response {
    let text = request.parameter("asset")
    guard let id = PublicID(text), let media = try await store.media(id) else {
      throw ProblemKind.mediaNotFound.problem("There is no media file \(text).")
    }
    let representation = Representation(
      length: media.bytes, entityTag: EntityTag(strong: media.hash.hex),
      headers: [
        "Content-Type": media.type, "X-Content-Type-Options": "nosniff",
        // An asset's bytes never change under its id; private, because a post may be for friends.
        "Cache-Control": "private, max-age=31536000, immutable",
      ])
    return try representation.respond(to: request) { range in
      switch media.content {
      case .inline(let bytes): .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
      case .blob: .file(FileRegion(try blobs.open(media.hash), offset: range.lowerBound, count: Int64(range.count)))
      }
    }
  }
}
