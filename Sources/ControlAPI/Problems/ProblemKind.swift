package import HTTPServer

/// Every kind of problem that the API answers with, each under a name that never changes; docs/problems.md is the table
/// for people, and docs/problems has a page for each.
package enum ProblemKind: String, Sendable, CaseIterable {
  case unauthorized
  case forbidden
  case foreignHost = "foreign_host"
  case foreignOrigin = "foreign_origin"
  case urlExpired = "url_expired"
  case urlInvalid = "url_invalid"
  case tooManyRequests = "too_many_requests"
  case invalidQuery = "invalid_query"
  case queryTooSlow = "query_too_slow"
  case notJSON = "not_json"
  case notMultipart = "not_multipart"
  case malformedForm = "malformed_form"
  case missingPart = "missing_part"
  case unknownPart = "unknown_part"
  case repeatedPart = "repeated_part"
  case malformedJSON = "malformed_json"
  case invalidFields = "invalid_fields"
  case partTooLarge = "part_too_large"
  case mediaRejected = "media_rejected"
  case invalidIdempotencyKey = "invalid_idempotency_key"
  case idempotencyKeyRunning = "idempotency_key_running"
  case idempotencyKeyReused = "idempotency_key_reused"
  case commentNotFound = "comment_not_found"
  case imageNotFound = "image_not_found"
  case postNotFound = "post_not_found"
  case jobNotFound = "job_not_found"
  case wrongJobState = "wrong_job_state"
  case mediaNotFound = "media_not_found"
  case mediaDamaged = "media_damaged"
  case overloaded
  case databaseUnavailable = "database_unavailable"
  case databaseReadOnly = "database_read_only"
  case storageLow = "storage_low"
  case storageFull = "storage_full"
  case storageUnavailable = "storage_unavailable"

  /// The status, a title and what the client can do.
  private var row: (status: Status, title: String, remedy: String) {
    switch self {
    case .unauthorized:
      (.unauthorized, "The API key is missing or wrong", "Send `Authorization: Bearer` with the service's API key.")
    case .forbidden:
      (.forbidden, "The API key does not admit to this", "Use a key with the scope that detail names.")
    case .foreignHost:
      (
        .forbidden, "Without a key the service answers to this machine's names alone",
        "Ask localhost or 127.0.0.1, or make a key with 'take5 keys create' and send it."
      )
    case .foreignOrigin:
      (
        .forbidden, "Without a key the service answers no page of another origin",
        "Make a key with 'take5 keys create', and send it from a program of your own."
      )
    case .urlExpired:
      (.forbidden, "The media URL has expired", "Read the post or the image again: its URLs are fresh.")
    case .urlInvalid:
      (.forbidden, "The media URL is not signed by this service", "Use a URL as an answer of the service gave it.")
    case .tooManyRequests:
      (.tooManyRequests, "Too many requests", "Wait as long as `Retry-After` says, then go on more slowly.")
    case .invalidQuery:
      (.badRequest, "Parameters of the query are wrong", "Correct the parameters named in errors.")
    case .queryTooSlow:
      (
        .unprocessableContent, "The list takes too long",
        "Ask for a smaller area, or for what lies between `from` and `to`."
      )
    case .notJSON:
      (.unsupportedMediaType, "The body is not JSON", "Send a JSON object with `Content-Type: application/json`.")
    case .notMultipart:
      (
        .unsupportedMediaType, "The submission is not a form",
        "Send multipart/form-data with the parts that docs/api.md lists."
      )
    case .malformedForm:
      (.badRequest, "The form cannot be read", "Build the body with a multipart/form-data library.")
    case .missingPart:
      (.badRequest, "A part of the form is missing", "Send the parts named in errors, in any order.")
    case .unknownPart:
      (.badRequest, "The form has a part that is not known", "Leave out the parts named in errors.")
    case .repeatedPart:
      (.badRequest, "A part of the form stands twice", "Send the parts named in errors once.")
    case .malformedJSON:
      (.badRequest, "This is not a JSON object", "Send a JSON object in UTF-8.")
    case .invalidFields:
      (.badRequest, "Fields are wrong", "Correct the fields named in errors.")
    case .partTooLarge:
      (.contentTooLarge, "A file is too large", "Film or export it at a lower resolution or bit rate.")
    case .mediaRejected:
      (.unprocessableContent, "The media were refused", "See reasons: each says what was found and what helps.")
    case .invalidIdempotencyKey:
      (
        .badRequest, "The Idempotency-Key cannot be used",
        "Send 1 to 200 visible ASCII characters, for instance a UUID, in double quotes or bare."
      )
    case .idempotencyKeyRunning:
      (.conflict, "The same request is being worked on", "Send it again in a moment, under the same key.")
    case .idempotencyKeyReused:
      (.unprocessableContent, "The Idempotency-Key belongs to another request", "Use a new key for a new request.")
    case .commentNotFound:
      (.notFound, "There is no such comment", "List the post's comments: it may have been deleted.")
    case .imageNotFound:
      (.notFound, "There is no such image", "Submit one, or wait until the one submitted is ready.")
    case .postNotFound:
      (.notFound, "There is no such post", "Use the id that the submission was answered with.")
    case .jobNotFound:
      (.notFound, "There is no such job", "Use the job's url in the post.")
    case .wrongJobState:
      (
        .conflict, "The job's state does not admit this",
        "Read the job: dead ones and those that wait for their next attempt can be tried again, those that are not over cancelled."
      )
    case .mediaNotFound:
      (
        .notFound, "There is no such media file",
        "Use a url among the post's assets; they change when a post is made anew."
      )
    case .mediaDamaged:
      (
        .serviceUnavailable, "The media file is damaged",
        "Where `Retry-After` is told it is being made again: read the post then. Otherwise show what else the post has."
      )
    case .overloaded:
      (
        .serviceUnavailable, "The service has too much to do",
        "Nothing was taken in. Send the request again after `Retry-After`."
      )
    case .databaseUnavailable:
      (.serviceUnavailable, "The database is away", "Send the request again in a moment.")
    case .databaseReadOnly:
      (.serviceUnavailable, "The database is read-only", "Nothing was stored. Send the request again in a moment.")
    case .storageLow:
      (
        .serviceUnavailable, "The storage is nearly full",
        "Nothing was taken in. Send the request again once there is room."
      )
    case .storageFull:
      (.insufficientStorage, "The storage is full", "Nothing was kept. Send the request again once there is room.")
    case .storageUnavailable:
      (.serviceUnavailable, "The storage is away", "Nothing was kept. Send the request again in a moment.")
    }
  }

  /// The URI that names this kind in answers.
  package var type: String { "urn:take5:problem:\(rawValue)" }

  /// The status it is answered with.
  package var status: Status { row.status }

  /// A problem of this kind.
  package func problem(
    _ detail: String, errors: [FieldError] = [], members: [Problem.Member] = [], headers: HeaderFields = [:]
  ) -> Problem {
    var members = members
    if !errors.isEmpty { members.append(.init(name: "errors", value: .list(errors.map(\.value)))) }
    return Problem(
      row.status, type: type, title: row.title, detail: detail, remedy: row.remedy, members: members, headers: headers)
  }
}
