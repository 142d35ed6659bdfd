package import HTTPServer

/// The kinds of problems that rooms share or that belong to one whose problems have no table of their own.
package enum ProblemKind: String, ProblemTable {
  case unauthorized
  case forbidden
  case notYours = "not_yours"
  case notGranted = "not_granted"
  case foreignHost = "foreign_host"
  case foreignOrigin = "foreign_origin"
  case urlExpired = "url_expired"
  case urlInvalid = "url_invalid"
  case ticketInvalid = "ticket_invalid"
  case userRequired = "user_required"
  case userForgotten = "user_forgotten"
  case userSuspended = "user_suspended"
  case tooManyRequests = "too_many_requests"
  case tooManyStreams = "too_many_streams"
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
  case uploadNotFound = "upload_not_found"
  case uploadOffset = "upload_offset"
  case uploadLength = "upload_length"
  case uploadWhole = "upload_whole"
  case uploadNotReady = "upload_not_ready"
  case uploadInUse = "upload_in_use"
  case uploadTooLarge = "upload_too_large"
  case tooManyUploads = "too_many_uploads"
  case uploadContent = "upload_content"
  case uploadVersion = "upload_version"
  case digestMismatch = "digest_mismatch"
  case notOnTime = "not_on_time"
  case quotaExceeded = "quota_exceeded"
  case invalidUpload = "invalid_upload"
  case invalidIdempotencyKey = "invalid_idempotency_key"
  case idempotencyKeyRunning = "idempotency_key_running"
  case idempotencyKeyReused = "idempotency_key_reused"
  case userNotFound = "user_not_found"
  case userNameTaken = "user_name_taken"
  case relationNotFound = "relation_not_found"
  case tokenNotFound = "token_not_found"
  case commentNotFound = "comment_not_found"
  case reportNotFound = "report_not_found"
  case caseNotFound = "case_not_found"
  case caseDecided = "case_decided"
  case collectionNotFound = "collection_not_found"
  case versionRequired = "version_required"
  case placeNotFound = "place_not_found"
  case noteNotFound = "note_not_found"
  case ratingNotFound = "rating_not_found"
  case imageNotFound = "image_not_found"
  case postNotFound = "post_not_found"
  case jobNotFound = "job_not_found"
  case wrongJobState = "wrong_job_state"
  case quarantineNotFound = "quarantine_not_found"
  case runNotFound = "run_not_found"
  case runEnded = "run_ended"
  case nothingSelected = "nothing_selected"
  case outdatedVersion = "outdated_version"
  case mediaNotFound = "media_not_found"
  case mediaDamaged = "media_damaged"
  case accountsOff = "accounts_off"
  case registrationRefused = "registration_refused"
  case registrationUndecided = "registration_undecided"
  case signInFailed = "sign_in_failed"
  case sessionEnded = "session_ended"
  case keyInvalid = "key_invalid"
  case wrongPassword = "wrong_password"
  case accountDisabled = "account_disabled"
  case accountNotFound = "account_not_found"
  case emailMissing = "email_missing"
  case emailTaken = "email_taken"
  case tooManyFriends = "too_many_friends"
  case codeInvalid = "code_invalid"
  case keySetUnavailable = "key_set_unavailable"
  case overloaded
  case databaseUnavailable = "database_unavailable"
  case databaseReadOnly = "database_read_only"
  case storageLow = "storage_low"
  case storageFull = "storage_full"
  case storageUnavailable = "storage_unavailable"

  package var row: (status: Status, title: String, remedy: String) {
    switch self {
    case .unauthorized:
      (
        .unauthorized, "The credential is missing or invalid",
        "Send the header field `Authorization: Bearer TOKEN` with a valid API key, user token or token of the identity provider."
      )
    case .forbidden:
      (.forbidden, "The client lacks a scope", "Use a credential that has what detail names.")
    case .notYours:
      (.forbidden, "It belongs to another user", "Act as the user whom it belongs to, or as no user with an API key.")
    case .notGranted:
      (
        .forbidden, "The user token does not permit the request",
        "Submit what detail names, or use a user token without an upload grant."
      )
    case .foreignHost:
      (
        .forbidden, "Without API keys the service accepts only requests for this machine",
        "Send the request to localhost or 127.0.0.1, or create an API key with 'take5 keys create' and send it."
      )
    case .foreignOrigin:
      (
        .forbidden, "Without API keys the service accepts no requests of other origins",
        "Create an API key with 'take5 keys create', and send it from a program instead of a web page."
      )
    case .urlExpired:
      (.forbidden, "The media URL has expired", "Read the post or the image again to get a new URL.")
    case .urlInvalid:
      (.forbidden, "The signature of the media URL is invalid", "Use a URL exactly as the service returned it.")
    case .ticketInvalid:
      (
        .forbidden, "The ticket is invalid",
        "Get a new ticket with `POST /v1/events/tickets`: each is used once, within a minute."
      )
    case .userRequired:
      (
        .badRequest, "The request acts as no user",
        "Send a user token, or with an API key the header field `Take5-User`."
      )
    case .userForgotten:
      (
        .conflict, "The user is being deleted",
        "Store nothing more for this user; once the deletion has ended, the id may be used for a new user."
      )
    case .userSuspended:
      (
        .forbidden, "The user is suspended",
        "A moderator ends the suspension by the decision `approve` of a case about the user."
      )
    case .tooManyStreams:
      (.tooManyRequests, "The user has too many open streams", "Close other streams of the user, or share one stream.")
    case .tooManyRequests:
      (
        ServerProblem.tooManyRequests.status, ServerProblem.tooManyRequests.title,
        "Wait for the time in `Retry-After`, then send requests at a lower rate."
      )
    case .invalidQuery:
      (.badRequest, "Query parameters are invalid", "Correct the parameters named in errors.")
    case .queryTooSlow:
      (.unprocessableContent, "The query takes too long", "Use a smaller area, or limit the time with `from` and `to`.")
    case .notJSON:
      (.unsupportedMediaType, "The body is not JSON", "Send a JSON object with `Content-Type: application/json`.")
    case .notMultipart:
      (
        .unsupportedMediaType, "The body is not a multipart form",
        "Send multipart/form-data with the parts that docs/api.md lists."
      )
    case .malformedForm:
      (.badRequest, "The form is malformed", "Create the body with a multipart/form-data library.")
    case .missingPart:
      (.badRequest, "A part of the form is missing", "Send the parts named in errors, in any order.")
    case .unknownPart:
      (.badRequest, "The form has an unknown part", "Remove the parts named in errors.")
    case .repeatedPart:
      (.badRequest, "A part of the form is repeated", "Send each part named in errors once.")
    case .malformedJSON:
      (.badRequest, "The JSON is malformed", "Send a JSON object in UTF-8.")
    case .invalidFields:
      (.badRequest, "Fields are invalid", "Correct the fields named in errors.")
    case .partTooLarge:
      (.contentTooLarge, "A file is too large", "Record or export it at a lower resolution or bit rate.")
    case .mediaRejected:
      (
        .unprocessableContent, "The media are rejected",
        "Follow the detail of each reason: it says what was found and what to do."
      )
    case .uploadNotFound:
      (.notFound, "Upload not found", "Create a new upload: it may have expired, or a submission has used it.")
    case .uploadOffset:
      (.conflict, "The upload continues at another offset", "Read the offset with HEAD, and send the bytes from there.")
    case .uploadLength:
      (.badRequest, "The upload has another length", "Create a new upload if the file has changed.")
    case .uploadWhole:
      (.badRequest, "The upload is whole", "Send nothing more, and name the upload in a submission.")
    case .uploadNotReady:
      (.conflict, "An upload is not whole", "Send the rest of the uploads named in errors, then submit again.")
    case .uploadInUse:
      (.conflict, "The upload belongs to another submission", "Create an upload for each file of each submission.")
    case .digestMismatch:
      (.badRequest, "The bytes do not match the digest", "Create a new upload, and send the file again.")
    case .notOnTime:
      (.unprocessableContent, "The post is not on time", "Record the next one while the daily window is open.")
    case .quotaExceeded:
      (.tooManyRequests, "The quota of the day is used", "Send no more before the time in `Retry-After` has passed.")
    case .uploadTooLarge:
      (.contentTooLarge, "The upload is too large", "Record or export it at a lower resolution or bit rate.")
    case .tooManyUploads:
      (
        .tooManyRequests, "The client has too many open uploads",
        "Submit the post or image that names the uploads, remove uploads that are no longer needed with DELETE, or wait for the time in `Retry-After`."
      )
    case .uploadContent:
      (
        .unsupportedMediaType, "The body has no bytes of an upload",
        "Send the bytes with the Content-Type that detail names."
      )
    case .uploadVersion:
      (.preconditionFailed, "The version of tus is not supported", "Use a version in `Tus-Version`.")
    case .invalidUpload:
      (.badRequest, "The header fields of the upload are invalid", "Correct the header fields named in errors.")
    case .invalidIdempotencyKey:
      (
        .badRequest, "The Idempotency-Key is invalid",
        "Send 1 to 200 visible ASCII characters, such as a UUID, with or without double quotes."
      )
    case .idempotencyKeyRunning:
      (
        .conflict, "A request with this Idempotency-Key is in progress",
        "Send the request again after the time in `Retry-After`, with the same key."
      )
    case .idempotencyKeyReused:
      (.unprocessableContent, "The Idempotency-Key belongs to another request", "Use a new key for a new request.")
    case .userNotFound:
      (.notFound, "User not found", "Search for the user, or register the user with PUT.")
    case .userNameTaken:
      (.conflict, "The user name is taken", "Choose another user name.")
    case .relationNotFound:
      (.notFound, "Relation not found", "List the relations of the user: it may have been removed.")
    case .tokenNotFound:
      (.notFound, "User token not found", "List the tokens of the user: the token may have expired.")
    case .commentNotFound:
      (.notFound, "Comment not found", "List the comments: the comment may have been deleted.")
    case .reportNotFound:
      (
        .notFound, "Report not found",
        "Report again: what was reported, or the report with its author, has been deleted."
      )
    case .caseNotFound:
      (
        .notFound, "Case not found",
        "List the cases: the case ends with the post, the comment or the user that it is about."
      )
    case .caseDecided:
      (
        .conflict, "The case has another decision",
        "Read the case. To decide otherwise, open a new case about the same subject."
      )
    case .collectionNotFound:
      (.notFound, "Collection not found", "Ask its author to share it, or list the collections of the user.")
    case .versionRequired:
      (
        .preconditionRequired, "The change needs a version",
        "Read it, and send its ETag as If-Match, so that no change of another user is lost."
      )
    case .placeNotFound:
      (.notFound, "Place not found", "Describe the place with PUT, or use the id that a post names.")
    case .noteNotFound:
      (.notFound, "Note not found", "List the notes of the user: the note may have been deleted.")
    case .ratingNotFound:
      (.notFound, "Rating not found", "List the ratings of the user: the rating may have been deleted.")
    case .imageNotFound:
      (.notFound, "Image not found", "Submit an image, or wait until the submitted one is ready.")
    case .postNotFound:
      (.notFound, "Post not found", "Use the id from the response to the submission.")
    case .jobNotFound:
      (.notFound, "Job not found", "Use the job's url from the post.")
    case .wrongJobState:
      (
        .conflict, "The state of the job does not allow this",
        "Read the job: a dead job or one that waits for its next attempt can be retried; a job that has not finished can be cancelled."
      )
    case .quarantineNotFound:
      (.notFound, "The media are not quarantined", "List the quarantined media: they may have been released.")
    case .runNotFound:
      (.notFound, "Run not found", "List the runs, and use the id of one.")
    case .runEnded:
      (.conflict, "The run has ended", "Start a new run.")
    case .nothingSelected:
      (
        .conflict, "The selection is empty",
        "Select other posts and images; with `dry_run` the response says how many, and how many lack their sources."
      )
    case .outdatedVersion:
      (
        ServerProblem.outdatedVersion.status, ServerProblem.outdatedVersion.title,
        "Read it again, and repeat the request with its new `ETag` if the change is still wanted."
      )
    case .mediaNotFound:
      (
        .notFound, "Media file not found",
        "Use a url from the post's assets; they change when the outputs of a post are replaced."
      )
    case .mediaDamaged:
      (
        .serviceUnavailable, "The media file is damaged",
        "If the response has `Retry-After`, the file is being restored: read the post again after that time. Otherwise show another asset of the post."
      )
    case .accountsOff:
      (.notFound, "The service has no accounts", "Ask the operator to start the service with --accounts on.")
    case .registrationRefused:
      (
        .forbidden, "The registration was refused",
        "Send what the app's operator asks for as `evidence`, such as an invitation."
      )
    case .registrationUndecided:
      (
        .serviceUnavailable, "The registration could not be checked",
        "Send the request again after the time in `Retry-After`."
      )
    case .signInFailed:
      (.unauthorized, "The sign-in failed", "Correct the user name or the password.")
    case .sessionEnded:
      (.unauthorized, "The session has ended", "Sign in again.")
    case .keyInvalid:
      (
        .unauthorized, "The key is invalid",
        "Use the operator's key, or an API key that 'take5 keys list' shows as valid."
      )
    case .wrongPassword:
      (.forbidden, "The former password is wrong", "Send the current password as former_password.")
    case .accountDisabled:
      (.forbidden, "The account is disabled", "Ask the operator to enable the account.")
    case .emailMissing:
      (.conflict, "The user has no e-mail address", "Give the profile an email, and request the code again.")
    case .emailTaken:
      (.conflict, "The e-mail address is taken", "Sign in with the address, or give the profile another one.")
    case .tooManyFriends:
      (.conflict, "A user has too many friends", "End another friendship first.")
    case .codeInvalid:
      (
        .forbidden, "The code is invalid",
        "Send the code of the last message within 15 minutes, or request another one."
      )
    case .accountNotFound:
      (.notFound, "Account not found", "Use the id of a user who has registered.")
    case .keySetUnavailable:
      (
        .serviceUnavailable, "The keys of the identity provider are unavailable",
        "Send the request again after the time in `Retry-After`, with the same token."
      )
    case .overloaded:
      (
        ServerProblem.overloaded.status, ServerProblem.overloaded.title,
        "Nothing was stored. Send the request again after the time in `Retry-After`."
      )
    case .databaseUnavailable:
      (.serviceUnavailable, "The database is unavailable", "Send the request again after the time in `Retry-After`.")
    case .databaseReadOnly:
      (
        .serviceUnavailable, "The database is read-only",
        "Nothing was stored. Send the request again after the time in `Retry-After`."
      )
    case .storageLow:
      (
        .serviceUnavailable, "The storage is nearly full",
        "Nothing was stored. Send the request again when there is free space."
      )
    case .storageFull:
      (
        .insufficientStorage, "The storage is full",
        "Nothing was stored. Send the request again when there is free space."
      )
    case .storageUnavailable:
      (
        .serviceUnavailable, "The storage is unavailable",
        "Nothing was stored. Send the request again after the time in `Retry-After`."
      )
    }
  }
}
