internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Model

/// What clients read, change and delete by its version: the entity tag of its JSON.
///
/// The version covers what a client changes or deletes, and not what changes without a request of its owner, such as
/// counts, the progress of a job and the signatures of URLs: otherwise each new comment would make a pending change fail.
protocol Versioned {
  associatedtype Version: Encodable

  /// The content that the version identifies.
  var version: Version { get }
}

extension Versioned {
  /// The entity tag of the current version (RFC 9110, section 8.8.3).
  func entityTag() throws -> EntityTag {
    EntityTag(strong: SHA256.digest(of: try JSON.encode(version)).hex)
  }
}

extension Request {
  /// Throws a problem with status 412 if the header field `If-Match` does not name the current version (RFC 9110, section
  /// 13.1.1). Every change and deletion calls it in its transaction, once what it changes is locked.
  ///
  /// - Parameter current: what is changed or deleted; nil: something without a version, such as a list, which only
  ///   `If-Match: *` names.
  func checkVersion(of current: (any Versioned)?) throws {
    // Computing the version is not free, and most requests have no condition.
    guard headers["If-Match"] != nil else { return }
    let wanted = headers.list("If-Match")
    guard !wanted.contains("*") else { return }
    let tag = try current?.entityTag()
    guard let tag, !wanted.isEmpty, !tag.failsIfMatch(in: headers, isOfRecord: true) else {
      throw ProblemKind.outdatedVersion.problem(
        tag.map { "The current version is \($0), which If-Match does not name." }
          ?? "What the request deletes has no version, so that only If-Match: * names it.")
    }
  }

  /// The same for what the request creates if it does not exist: then no version of it matches.
  func checkVersion(of current: (any Versioned)?, named name: String) throws {
    guard current != nil || headers["If-Match"] == nil else {
      throw ProblemKind.outdatedVersion.problem("The \(name) does not exist, so that If-Match names no version.")
    }
    try checkVersion(of: current)
  }
}

extension Response {
  /// Returns a JSON response that caches must not store.
  static func uncached(
    _ value: some Encodable, _ status: Status = .ok, at location: String? = nil
  ) throws -> Response {
    var headers: HeaderFields = ["Cache-Control": "no-store"]
    headers["Location"] = location
    return .json(status, try JSON.encode(value), headers: headers)
  }

  /// Returns the JSON of a page or a record that caches must not store, with what it includes.
  static func uncached(_ value: some Encodable, including included: Included?) throws -> Response {
    try included.map { try .uncached(Including(value: value, included: $0)) } ?? .uncached(value)
  }

  /// Returns the JSON of something that has a version and what it includes, with the version in the header field `ETag`.
  static func versioned(
    _ value: some Encodable, _ current: some Versioned, including included: Included?
  ) throws -> Response {
    try included.map { try .versioned(Including(value: value, included: $0), current) } ?? .versioned(value, current)
  }

  /// Returns the JSON of something that has a version, with the version in the header field `ETag`.
  static func versioned(_ value: some Encodable, _ current: some Versioned, _ status: Status = .ok) throws -> Response {
    .json(
      status, try JSON.encode(value),
      headers: ["Cache-Control": "no-store", "ETag": try current.entityTag().description])
  }
}
