internal import Blobs
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model

/// The routes of uploads: files that are sent in parts, before the submissions that name them.
///
/// No request waits for the database, and none holds more of the body than the server buffers.
struct UploadRoutes: RouteRoom {
  /// The maximum number of parts of uploads that are received at the same time, and the share of a user. A part needs no
  /// database connection, and less memory than a submission.
  static let maxUploadParts = 4096
  static let userUploadParts = 64

  let kit: Kit
  let uploads: LocalUploads
  let space: MediaSpace
  let parts: SharedLimit
  let turns = UploadTurns()

  var routes: [Route] {
    // The handlers bound the bodies: what they refuse, they refuse as the protocols say. No method is safe, because clients of tus
    // may say another one in X-HTTP-Method-Override.
    func upload(_ method: String, _ template: String, _ handler: @escaping Route.Handler) -> Route {
      route(
        method, template, access: .key([.submit]), bodyLimit: .max, isSafe: false, waitsForDisk: true,
        isResumable: true, handler: handler)
    }
    return [
      route("OPTIONS", "/v1/uploads", access: .anyone, isSafe: true, handler: describeUploads),
      upload("POST", "/v1/uploads", createUpload),
    ] + ["DELETE", "GET", "PATCH", "POST"].map { upload($0, "/v1/uploads/{id}", handleUpload) }
  }

  /// The header fields of every response to a request of uploads.
  func fields(_ head: RequestHead) -> HeaderFields {
    UploadDialect.commonFields(head, limits: (maxUploadBytes, uploads.lifetime))
  }

  /// The maximum length of an upload: that of the largest file of any submission.
  var maxUploadBytes: Int64 { definitions.maxBytes }

  private func describeUploads(_ request: Request) async throws -> Response {
    Response(.noContent, headers: ["Allow": "OPTIONS, POST"])
  }

  private func createUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    var record: UploadRecord?
    do {
      try dialect.check(request.head)
      switch dialect.method(of: request.head) {
      case "POST": return try await create(&record, request, dialect)
      case "OPTIONS": return try await describeUploads(request)
      default: throw Self.wrongMethod(request, allowed: "OPTIONS, POST")
      }
    } catch {
      throw completing(error, dialect, record)
    }
  }

  private func handleUpload(_ request: Request) async throws -> Response {
    let dialect = UploadDialect(request.headers)
    var record: UploadRecord?
    do {
      try dialect.check(request.head)
      let method = dialect.method(of: request.head)
      guard ["DELETE", "GET", "HEAD", "PATCH"].contains(method) else {
        throw Self.wrongMethod(request, allowed: "DELETE, GET, HEAD, PATCH")
      }
      if method != "PATCH" { try dialect.checkWithoutContent(request.head) }
      let found = try self.record(of: request)
      record = found
      switch method {
      case "PATCH": return try await appendToUpload(found, request, dialect)
      case "DELETE": return try await deleteUpload(found, request)
      default: return try await readUpload(found, request, dialect, isHead: method == "HEAD")
      }
    } catch {
      throw completing(error, dialect, record)
    }
  }

  /// Returns an error as the problem that its protocol describes; one that is none stays as it is.
  private func completing(_ error: any Error, _ dialect: UploadDialect, _ record: UploadRecord?) -> any Error {
    let problem: Problem
    switch error {
    case let error as Problem: problem = error
    case let refusal as UploadRefusal: problem = refusal.reason.problem
    case let error as BodyError: problem = error.problem
    default:
      guard let outage = OutageProblem.problem(for: error) else { return error }
      problem = outage
    }
    let offset = record.flatMap { record in try? uploads.state(of: record).offset }
    return dialect.completing(
      problem, record, offset: offset, expiresAt: record.map(uploads.expiry), isFinal: error is UploadRefusal,
      limit: dialect.limit(
        expiresAt: record.map(uploads.expiry) ?? .now.addingTimeInterval(uploads.lifetime),
        maxBytes: maxUploadBytes))
  }

  private static func wrongMethod(_ request: Request, allowed: String) -> Problem {
    Problem(
      .methodNotAllowed, detail: "\(request.target.path) does not support the method.",
      remedy: "Use one of: \(allowed).",
      headers: ["Allow": allowed])
  }

  // MARK: Steps

  /// Throws a problem if an upload would be too long.
  func check(length: Int64?) throws(Problem) {
    guard let length, length > maxUploadBytes else { return }
    throw ProblemKind.uploadTooLarge.problem("The upload has \(length) bytes; at most \(maxUploadBytes) are accepted.")
  }

  /// Reads the upload of the path; throws a problem with status 404 if it does not exist, has expired, or is another
  /// client's.
  private func record(of request: Request) throws -> UploadRecord {
    let text = request.parameter("id")
    guard let id = PublicID(text), let record = try uploads.record(id, of: request.caller) else {
      throw LocalUploads.notFound(text)
    }
    return record
  }
}
