internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Kit
package import Model
internal import Platform
internal import Postgres
internal import Store

/// The route of media files.
struct MediaRoutes: RouteRoom {
  let kit: Kit
  let reads: BlobReads
  let scrub: ScrubQueue
  /// Whether clients read media from the blob store itself, if that has URLs.
  let redirects: Bool

  var routes: [Route] {
    [route("GET", "/v1/media/{asset}", access: .media([.read]), readsQuery: true, handler: readMedia)]
  }

  /// The end of the year 9999, in seconds since 1970-01-01 UTC.
  private static let latestTime = 253_402_300_799

  /// The time for which caches may keep public media, in seconds. A post that becomes private, or is deleted, is gone from
  /// every cache after it; until then a cache asks the service once in this time, which replies with 304.
  private static let publicSeconds = 3600

  private func readMedia(_ request: Request) async throws -> Response {
    let text = request.parameter("asset")
    var reader = QueryReader(request.target)
    let isDownload = reader.choice("download", of: Flag.self) == .yes
    for name in ["expires", "key"] { _ = reader.number(name, in: 0...Self.latestTime) }
    for name in ["reader", "user", "signature"] { _ = reader.text(name) }
    try reader.finish()
    let secondsLeft = access.secondsLeft(of: request.target)
    let viewer = request.caller.viewer
    let found = try await database.read { session -> (asset: StoredAsset, isPublic: Bool)? in
      guard let id = PublicID(text) else { return nil }
      // A signed URL is its reader's alone. Otherwise what is public is served to everybody in the same way.
      if secondsLeft == nil, let asset = try Assets.find(id, for: .stranger, session) { return (asset, true) }
      if viewer == .stranger { return nil }
      return try Assets.find(id, for: viewer, session).map { ($0, false) }
    }
    guard let (stored, isPublic) = found, !stored.asset.role.isSource else { throw Self.mediaNotFound(text) }
    // The bytes of an asset never change. What is not public must not be shared, or cached for longer than its URL is valid.
    var headers: HeaderFields = ["Cache-Control": "private, max-age=\(secondsLeft ?? 31_536_000), immutable"]
    if isPublic { headers["Cache-Control"] = "public, max-age=\(Self.publicSeconds), must-revalidate" }
    if isDownload {
      let name = "\(stored.asset.role.rawValue).\(stored.asset.fileExtension)"
      headers["Content-Disposition"] = "attachment; filename=\"\(name)\""
    }
    return try await respond(with: stored, to: request, headers: headers)
  }

  /// The value of a parameter without an alternative.
  private enum Flag: String, CaseIterable { case yes = "1" }

  /// Returns the bytes of an asset, or the range that the request asks for.
  func respond(with stored: StoredAsset, to request: Request, headers: HeaderFields) async throws -> Response {
    let (scrub, reads, asset) = (scrub, reads, stored.asset)
    var headers = headers
    headers["Content-Type"] = asset.type
    headers["X-Content-Type-Options"] = "nosniff"
    if let recipe = stored.recipe { headers["Take5-Recipe"] = recipe.hex }
    if let url = try await redirection(of: stored, request, headers) {
      let seconds = Self.redirectSeconds / 2
      return Response(.temporaryRedirect, headers: ["Location": url, "Cache-Control": "private, max-age=\(seconds)"])
    }
    let representation = Representation(
      length: asset.bytes, entityTag: EntityTag(strong: asset.sha256), headers: headers)
    do {
      return try await representation.respond(to: request) { range in
        if let bytes = stored.inline { return .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])) }
        let file = try await reads.open(stored)
        scrub.offer(stored.hash, bytes: asset.bytes)
        return .file(FileRegion(file, range, load: reads.load))
      }
    } catch let error as BlobError where error.damage != nil {
      // A missing file is expected if the asset was deleted in the meantime.
      guard let current = try await database.read({ try Assets.find(asset.id, for: .unrestricted, $0) }) else {
        throw Self.mediaNotFound("\(asset.id)")
      }
      // The scrubber reads the whole blob and records whether it is damaged.
      if current.damage?.isRecorded != true { scrub.offer(stored.hash, bytes: asset.bytes, isSuspect: true) }
      throw Self.damaged(current)
    }
  }

  /// The validity of the URL of a blob store in seconds. It is short: who loses the right to read keeps the URL.
  private static let redirectSeconds = 300

  /// Returns the URL at which a client reads the file of an asset; nil if the service sends it.
  private func redirection(
    of stored: StoredAsset, _ request: Request, _ headers: HeaderFields
  ) async throws -> String? {
    let isConditional = request.headers["If-None-Match"] != nil || request.headers["If-Match"] != nil
    guard redirects, request.method == "GET", !isConditional, stored.inline == nil,
      stored.damage == nil
    else {
      return nil
    }
    let fields = BlobFields(
      contentType: stored.asset.type, contentDisposition: headers["Content-Disposition"],
      cacheControl: headers["Cache-Control"])
    return try await reads.url(of: stored.hash, fields: fields, seconds: Self.redirectSeconds)
  }

  private static func mediaNotFound(_ id: String) -> Problem {
    ProblemKind.mediaNotFound.problem("The media file \(id) does not exist.")
  }

  private static func damaged(_ stored: StoredAsset) -> Problem {
    if stored.damage?.isLost == true {
      return ProblemKind.mediaDamaged.problem(
        "The media file \(stored.asset.id) is damaged and cannot be restored.")
    }
    return ProblemKind.mediaDamaged.problem(
      "The media file \(stored.asset.id) is damaged and is being restored.", headers: ["Retry-After": "10"])
  }
}

extension BlobReads {
  /// Opens the file of an asset that is stored in the blob store.
  ///
  /// - Parameter timeout: the time that the caller waits; nil: that of a client.
  /// - Throws: `BlobError`, also for a file that is recorded as damaged.
  func open(_ stored: StoredAsset, within timeout: Duration? = nil) async throws(BlobError) -> OpenFile {
    // Content of a row that is damaged may be a file as well.
    if let damage = stored.damage, damage.isRecorded { throw .damaged(stored.hash, damage.kind) }
    return try await open(stored.hash, bytes: stored.asset.bytes, within: timeout)
  }
}

extension Asset {
  /// The usual file name extension of the media type.
  package var fileExtension: String {
    switch type {
    case "video/quicktime": "mov"
    case "video/mp4": "mp4"
    case "image/jpeg": "jpg"
    default: type.split(separator: "/").last.map(String.init) ?? "bin"
    }
  }
}
