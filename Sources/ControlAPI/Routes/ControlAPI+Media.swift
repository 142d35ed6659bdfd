internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The bytes of media.
extension ControlAPI {
  var mediaRoutes: [Route] {
    let access = access
    return [
      route(
        "GET", "/v1/media/{asset}", needs: [.read],
        admission: { (head, client) throws(Problem) in try access.admitToMedia(head, from: client) }, handler: readMedia
      )
    ]
  }

  /// The end of the year 9999, in seconds since 1970-01-01 UTC.
  private static let latestTime = 253_402_300_799

  private func readMedia(_ request: Request) async throws -> Response {
    let text = request.parameter("asset")
    var reader = QueryReader(request.target)
    let isDownload = reader.choice("download", of: Flag.self) == .yes
    for name in ["expires", "key"] { _ = reader.number(name, in: 0...Self.latestTime) }
    for name in ["reader", "signature"] { _ = reader.text(name) }
    try reader.finish()
    let store = store
    guard let id = PublicID(text), let stored = try await database.read({ try store.asset(id, $0) }),
      !stored.asset.role.isSource
    else { throw ProblemKind.mediaNotFound.problem("There is no media file \(text).") }
    // An asset's bytes never change under its id; private, because a post may be for friends. Nobody is to keep it
    // longer than the URL is valid.
    var headers: HeaderFields = ["Cache-Control": "private, max-age=31536000, immutable"]
    if case .valid(let seconds) = access.judge(request.target) {
      headers["Cache-Control"] = "private, max-age=\(seconds), immutable"
    }
    if isDownload {
      let name = "\(stored.asset.role.rawValue).\(stored.asset.fileExtension)"
      headers["Content-Disposition"] = "attachment; filename=\"\(name)\""
    }
    return try await respond(with: stored, to: request, headers: headers)
  }

  /// A parameter that is there or not.
  private enum Flag: String, CaseIterable { case yes = "1" }

  /// Answers with the bytes of an asset, whole or in part.
  func respond(with stored: StoredAsset, to request: Request, headers: HeaderFields) async throws -> Response {
    let (store, scrub, asset) = (store, scrub, stored.asset)
    var headers = headers
    headers["Content-Type"] = asset.type
    headers["X-Content-Type-Options"] = "nosniff"
    if let recipe = stored.recipe { headers["Take5-Recipe"] = recipe.hex }
    let representation = Representation(
      length: asset.bytes, entityTag: EntityTag(strong: asset.sha256), headers: headers)
    do {
      return try representation.respond(to: request) { range in
        if let bytes = stored.inline { return .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])) }
        let file = try store.content(of: stored)
        scrub.offer(stored.hash, bytes: asset.bytes)
        return .file(FileRegion(file, offset: range.lowerBound, count: Int64(range.count)))
      }
    } catch let error as BlobError where error.damage != nil {
      // Of what was deleted meanwhile nothing is amiss.
      guard let now = try await database.read({ try store.asset(asset.id, $0) }) else {
        throw ProblemKind.mediaNotFound.problem("There is no media file \(asset.id).")
      }
      // Whether it is damaged is decided by who reads it to its end.
      if now.damage == nil { scrub.offer(stored.hash, bytes: asset.bytes, isSuspect: true) }
      throw Self.damaged(now)
    }
  }

  private static func damaged(_ stored: StoredAsset) -> Problem {
    if stored.damage?.isLost == true {
      return ProblemKind.mediaDamaged.problem(
        "The media file \(stored.asset.id) is damaged, and cannot be made again.")
    }
    return ProblemKind.mediaDamaged.problem(
      "The media file \(stored.asset.id) is damaged; it is made again.", headers: ["Retry-After": "10"])
  }
}

extension Asset {
  /// What a file of its type is usually called.
  fileprivate var fileExtension: String {
    switch type {
    case "video/mp4": "mp4"
    case "image/jpeg": "jpg"
    default: type.split(separator: "/").last.map(String.init) ?? "bin"
    }
  }
}
