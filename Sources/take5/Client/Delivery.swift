import HTTPClient
import Model

/// A submission and the files that it names, as requests that are sent one after another until all have arrived: the uploads
/// are created, then the submission is sent, so that the service refuses it before a byte is sent, then the bytes.
///
/// The sender interprets responses here. docs/uploads.md describes the protocol, here the current draft of the
/// IETF.
struct Delivery: Sendable {
  /// A request. A file is named by its index.
  enum Step: Sendable, Hashable {
    case create(Int)
    /// Asks at which offset the upload goes on.
    case locate(Int, PublicID)
    case append(Int, PublicID, offset: Int64)
    /// Submits what names these uploads, one for each file.
    case submit([PublicID])
  }

  /// What the client knows of an upload.
  private enum Upload: Sendable {
    case missing
    case known(PublicID, offset: Int64)
    /// A request that sent bytes has failed: some may have arrived.
    case unsure(PublicID)
    case whole(PublicID)
    /// It was part of a stored submission, and does not exist now.
    case taken(PublicID)

    var id: PublicID? {
      switch self {
      case .missing: nil
      case .known(let id, _), .unsure(let id), .whole(let id), .taken(let id): id
      }
    }
  }

  private let lengths: [Int64]
  private var uploads: [Upload]
  /// The bytes of each file that the service has acknowledged.
  private var acknowledged: [Int64]
  /// Whether the service wants whole uploads before their submission.
  private var sendsBytesFirst = false
  /// The response to the submission.
  private(set) var answer: HTTPResponse?
  /// Whether the service has refused a file after it had stored the submission, which it rejects for that.
  private(set) var isRefused = false
  /// Whether the last response shows something new, after which failures count from one again.
  private(set) var hasProgressed = false

  /// - Parameter lengths: the lengths of the files, in bytes.
  init(lengths: [Int64]) {
    self.lengths = lengths
    uploads = lengths.map { _ in .missing }
    acknowledged = lengths.map { _ in 0 }
  }

  /// The number of bytes that have arrived, of all files.
  var arrived: Int64 { acknowledged.reduce(0, +) }

  /// The next request; nil if all is done.
  var next: Step? {
    if isRefused { return nil }
    if answer == nil, let missing = uploads.firstIndex(where: { $0.id == nil }) { return .create(missing) }
    let submission = Step.submit(uploads.compactMap(\.id))
    if answer == nil, !sendsBytesFirst { return submission }
    for (file, upload) in uploads.enumerated() {
      switch upload {
      case .known(let id, let offset): return .append(file, id, offset: offset)
      case .unsure(let id): return .locate(file, id)
      case .missing, .whole, .taken: continue
      }
    }
    return answer == nil ? submission : nil
  }

  /// Whether an upload is gone though its submission is stored. If the post is not processed either, its files are lost.
  var hasTaken: Bool { uploads.contains { if case .taken = $0 { true } else { false } } }

  /// Takes the outcome of a request, and returns the failure after which the next one is sent later; throws if the service
  /// refuses the request for good.
  mutating func receive(_ outcome: RequestOutcome, of step: Step) throws -> TemporaryFailure? {
    hasProgressed = false
    if let failure = TemporaryFailure(outcome) {
      if case .append(let file, let id, _) = step { uploads[file] = .unsure(id) }
      return failure
    }
    let response = try outcome.get()
    let isAccepted = 200..<300 ~= response.status
    switch step {
    case .create(let file):
      guard isAccepted else { throw CommandFailure(response) }
      guard let id = Self.id(response) else { throw CommandFailure(unexpected: "it has no location of an upload") }
      hasProgressed = true
      take(response, file, id)
    case .locate(let file, let id):
      // The upload may be complete because it was refused: only a request that sends the rest, or nothing, gets the reason.
      if isAccepted { take(response, file, id, isFinal: false) } else { return try refused(response, step, file, id) }
    case .append(let file, let id, _):
      guard isAccepted else { return try refused(response, step, file, id) }
      take(response, file, id)
      // Something between the service and the client has answered.
      if case .known = uploads[file], !hasProgressed { return TemporaryFailure(response) }
    case .submit:
      return try submitted(response)
    }
    return nil
  }

  /// Takes what a response says of an upload.
  private mutating func take(_ response: HTTPResponse, _ file: Int, _ id: PublicID, isFinal: Bool = true) {
    let offset = response.headers["upload-offset"].flatMap { Int64($0) } ?? 0
    let isWhole = isFinal && response.headers["upload-complete"] == "?1"
    let arrived = isWhole ? lengths[file] : min(max(0, offset), lengths[file])
    uploads[file] = isWhole ? .whole(id) : .known(id, offset: arrived)
    if arrived > acknowledged[file] { hasProgressed = true }
    acknowledged[file] = arrived
  }

  /// Takes a response that refuses bytes of an upload.
  private mutating func refused(
    _ response: HTTPResponse, _ step: Step, _ file: Int, _ id: PublicID
  ) throws -> TemporaryFailure? {
    switch response.status {
    case 404 where answer != nil, 410 where answer != nil:
      // A stored submission takes its uploads when they are whole, and the response that said so may be lost.
      uploads[file] = .taken(id)
      acknowledged[file] = lengths[file]
      return nil
    case 404, 410:
      uploads[file] = .missing
      acknowledged[file] = 0
    case 400 where response.problem == "completed-upload" && step == .append(file, id, offset: lengths[file]):
      uploads[file] = .whole(id)
      return nil
    case 409: uploads[file] = .unsure(id)
    case 400 where response.problem == "completed-upload": uploads[file] = .unsure(id)
    default:
      guard answer != nil, Self.refusals.contains(response.problem) else { throw CommandFailure(response) }
      isRefused = true
      return nil
    }
    return TemporaryFailure(response)
  }

  /// The problems of a file that lasts: the service rejects the post that names it.
  private static let refusals: Set<String?> = ["media_rejected", "digest_mismatch"]

  /// Takes the response to the submission.
  private mutating func submitted(_ response: HTTPResponse) throws -> TemporaryFailure? {
    switch response.status {
    case 200..<300:
      answer = response
      hasProgressed = true
      return nil
    case 409 where response.problem == "upload_not_ready" && !sendsBytesFirst:
      sendsBytesFirst = true
      hasProgressed = true
      return nil
    case 404 where response.problem == "upload_not_found", 409 where response.problem == "upload_not_ready":
      sendsBytesFirst = true
      uploads = uploads.map { upload in upload.id.map { .unsure($0) } ?? .missing }
      return TemporaryFailure(response)
    default: throw CommandFailure(response)
    }
  }

  /// The id of a created upload. Only the id is taken of the URL: the server is the one that the user names.
  private static func id(_ response: HTTPResponse) -> PublicID? {
    response.headers["location"].flatMap { $0.split(separator: "/").last }.flatMap { PublicID($0) }
  }
}
