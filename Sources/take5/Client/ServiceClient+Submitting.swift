import Crypto
import FoundationEssentials
import HTTPClient
import Model

extension ServiceClient {
  /// Sends a submission and its files until they have arrived, and returns the post or image that it creates. Prints the id as
  /// soon as the service has stored it, because the bytes of the files may take long.
  ///
  /// - Parameter key: the `Idempotency-Key`, so that a repetition creates nothing twice.
  func submit(_ submission: Submission, key: String) async throws -> MediaResponse {
    let digests = try await Self.blocking { _ in try submission.files.map { try $0.digest() } }
    var delivery = Delivery(lengths: submission.files.map(\.length))
    let progress = SendingProgress(total: submission.files.map(\.length).reduce(0, +))
    defer { progress.clear() }
    var stored: MediaResponse?
    do {
      while let step = delivery.next {
        let request = try request(for: step, of: submission, digests, key: key)
        let arrived = delivery.arrived
        let outcome = try await outcome(of: request) { sent in
          if case .append = step { progress.show(arrived + sent) }
        }
        let failure = try delivery.receive(outcome, of: step)
        if stored == nil, let answer = delivery.answer {
          let media = try Self.read(MediaResponse.self, from: answer)
          if !submission.files.isEmpty { progress.note("take5: created \(submission.resource.rawValue) \(media.id)") }
          stored = media
        }
        if delivery.hasProgressed { progressed() }
        if let failure {
          try await pause(after: failure, progress)
        } else if case .locate = step {
          progress.goOn(at: delivery.arrived)
        }
      }
    } catch {
      guard let stored else { throw error }
      let name = "\(submission.resource.rawValue) \(stored.id)"
      throw CommandFailure(cancellable: error).adding(
        "\(name) awaits the rest of its files",
        remedy: "run the command again for another one: \(name) is rejected when its uploads expire")
    }
    guard let stored else {
      throw CommandFailure(
        .unavailable, "the service did not say what it stored", remedy: "check that --server names a take5 service")
    }
    return try await checked(stored, submission.resource, delivery)
  }

  /// Reads a submission again whose upload is gone: it became a part of the post, the post was rejected, or it is lost.
  private func checked(
    _ media: MediaResponse, _ resource: MediaResource, _ delivery: Delivery
  ) async throws -> MediaResponse {
    guard delivery.hasTaken else { return media }
    let current = try await self.media(media.id, resource)
    guard current.job == nil, current.status == .processing else { return current }
    throw CommandFailure(
      .unavailable, "the service has lost an upload of the \(resource.rawValue) \(media.id)",
      remedy: "delete the \(resource.rawValue), and submit it again")
  }

  private func request(
    for step: Delivery.Step, of submission: Submission, _ digests: [SHA256Digest], key: String
  ) throws -> HTTPRequest {
    switch step {
    case .create(let file):
      HTTPRequest(
        "POST", "/v1/uploads",
        headers: [
          ("Upload-Complete", "?0"), ("Upload-Length", "\(submission.files[file].length)"),
          ("Repr-Digest", "sha-256=:\(Data(digests[file].bytes).base64EncodedString()):"),
        ], body: .bytes([]), timeout: uploadTimeout)
    case .locate(_, let id): HTTPRequest("HEAD", "/v1/uploads/\(id)", timeout: uploadTimeout)
    case .append(let file, let id, let offset):
      HTTPRequest(
        "PATCH", "/v1/uploads/\(id)",
        headers: [
          ("Content-Type", "application/partial-upload"), ("Upload-Complete", "?1"), ("Upload-Offset", "\(offset)"),
        ], body: submission.files[file].body(from: offset), timeout: uploadTimeout)
    case .submit(let uploads):
      HTTPRequest(
        submission.method, submission.path,
        headers: [("Content-Type", "application/json"), ("Idempotency-Key", key)],
        body: .bytes(try submission.body(naming: uploads)))
    }
  }
}
