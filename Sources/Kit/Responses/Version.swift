internal import Crypto
import FoundationEssentials
package import HTTPServer
internal import Model

/// What clients read, change and delete by its version, with which the entity tag of its JSON begins.
///
/// The version covers what a client changes or deletes, and not what changes without a request of its owner, such as
/// counts, the progress of a job and the signatures of URLs: otherwise each new comment would make a pending change fail.
package protocol Versioned {
  associatedtype Version: Encodable

  /// The content that the version identifies.
  var version: Version { get }
}

extension Versioned {
  /// The entity tag of the current version (RFC 9110, section 8.8.3), without that of the JSON.
  package func entityTag() throws -> EntityTag {
    EntityTag(strong: SHA256.digest(of: try JSON.encode(version)).hex)
  }
}

extension Request {
  /// Throws a problem with status 412 if the header field `If-Match` does not name the current version (RFC 9110, section
  /// 13.1.1). Every change and deletion calls it in its transaction, once what it changes is locked.
  ///
  /// - Parameter current: what is changed or deleted; nil: something without a version, such as a list, which only
  ///   `If-Match: *` names.
  package func checkVersion(of current: (any Versioned)?) throws {
    // Computing the version is not free, and most requests have no condition.
    guard headers["If-Match"] != nil else { return }
    let wanted = headers.list("If-Match", maxBytes: .max)
    guard !wanted.contains("*") else { return }
    let tag = try current?.entityTag()
    guard let tag, wanted.contains(where: { EntityTag($0)?.isVersion(tag) == true }) else {
      throw ProblemKind.outdatedVersion.problem(
        tag.map { "The current version is \($0), which If-Match does not name." }
          ?? "What the request deletes has no version, so that only If-Match: * names it.")
    }
  }

  /// The same for what the request creates if it does not exist: then no version of it matches.
  package func checkVersion(of current: (any Versioned)?, named name: String) throws {
    guard current != nil || headers["If-Match"] == nil else {
      throw ProblemKind.outdatedVersion.problem("The \(name) does not exist, so that If-Match names no version.")
    }
    try checkVersion(of: current)
  }
}

extension EntityTag {
  /// Whether it is a tag of a version: what follows a dot is that of the JSON, which also has what is no part of the version. A proxy that
  /// compresses a response makes its tag a weak one.
  fileprivate func isVersion(_ version: EntityTag) -> Bool {
    opaque.utf8.prefix { $0 != UInt8(ascii: ".") }.elementsEqual(version.opaque.utf8)
  }
}

extension Response {
  /// Returns a JSON response. What GET returns may be kept (`revalidated`), anything else caches must not store.
  package static func uncached(
    _ value: some Encodable, _ status: Status = .ok, at location: String? = nil
  ) throws -> Response {
    var headers: HeaderFields = [:]
    headers["Location"] = location
    return .json(status, try JSON.encode(value), headers: headers)
  }

  /// Returns the JSON of something that has a version, with the version in the header field `ETag`.
  package static func versioned(
    _ value: some Encodable, _ current: some Versioned, _ status: Status = .ok, at location: String? = nil
  ) throws -> Response {
    let body = try JSON.encode(value)
    let tag = EntityTag(strong: "\(try current.entityTag().opaque).\(SHA256.digest(of: body).hex.prefix(32))")
    var headers: HeaderFields = ["ETag": tag.description]
    headers["Location"] = location
    return .json(status, body, headers: headers)
  }

  /// Returns JSON with what caches may do, unless it says so itself: the client keeps what GET returns, and asks each time whether it is
  /// the current one, to which 304 is the answer (RFC 9110, section 13.1.2).
  func revalidated(by request: Request) -> Response {
    guard headers["Content-Type"] == "application/json", headers["Cache-Control"] == nil, case .bytes(let bytes) = body
    else { return self }
    var response = self
    guard status == .ok, ["GET", "HEAD"].contains(request.method) else {
      response.headers["Cache-Control"] = "no-store"
      return response
    }
    let tag = headers["ETag"].flatMap { EntityTag($0) } ?? EntityTag(strong: SHA256.digest(of: bytes).hex)
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["ETag"] = tag.description
    guard tag.matchesIfNoneMatch(in: request.headers) else { return response }
    response.headers["Content-Type"] = nil
    return Response(.notModified, headers: response.headers)
  }
}
