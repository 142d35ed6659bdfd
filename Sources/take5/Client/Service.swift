import HTTPClient
import Model
import Platform

/// The service as the command line reaches it.
struct Service: Sendable {
  private let client: HTTPClient

  /// The service that `--server` names, with the API key of the environment or of a file.
  init(_ arguments: Arguments) throws(CommandFailure) {
    let url = arguments.value("--server") ?? ""
    guard let address = ServerAddress(url: url) else {
      throw CommandFailure(
        .usage, "'\(url)' is no address of a service",
        remedy: "write it as http://HOST:PORT or https://HOST:PORT, without a path")
    }
    client = HTTPClient(
      server: address, apiKey: try APIKey.read(arguments),
      certificates: arguments.value("--cacert") ?? arguments.variable("SSL_CERT_FILE"))
  }

  /// Submits a moment; blocks while it is sent.
  func submit(
    _ draft: PostDraft, front: String, back: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> PostAnswer {
    let client = client
    let form = [
      FormPart(name: "post", json: try JSON.encode(draft)),
      try Self.clip("front", front), try Self.clip("back", back),
    ]
    let answer = try await Self.blocking {
      try client.post("/v1/posts", form: form) { sent, total in progress(Double(sent) / Double(total)) }
    }
    return try Self.read(PostAnswer.self, from: answer, success: 202)
  }

  /// Reads a post.
  func post(_ id: PublicID) async throws -> PostAnswer { try await get("/v1/posts/\(id)") }

  /// Reads a job.
  func job(_ id: PublicID) async throws -> JobAnswer { try await get("/v1/jobs/\(id)") }

  /// Saves a stored media file, as it comes.
  func save(_ url: String, to path: String) async throws {
    let client = client
    try await Self.blocking {
      let file = try OutputFile(path: path)
      let answer = try client.get(url, into: file.descriptor)
      guard answer.status == 200 else { throw CommandFailure(answer) }
      try file.commit()
    }
  }

  private func get<Value: Decodable & Sendable>(_ path: String) async throws -> Value {
    let client = client
    let answer = try await Self.blocking { try client.get(path) }
    return try Self.read(Value.self, from: answer, success: 200)
  }

  private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    do {
      return try await onThread("http-client", work)
    } catch let error as HTTPClientError {
      throw CommandFailure(.unavailable, error.description)
    }
  }

  private static func read<Value: Decodable>(
    _ type: Value.Type, from answer: HTTPAnswer, success: Int
  ) throws -> Value {
    guard answer.status == success else { throw CommandFailure(answer) }
    return try JSON.decode(type, from: answer.body)
  }

  private static func clip(_ name: String, _ path: String) throws(CommandFailure) -> FormPart {
    do {
      return try FormPart(name: name, path: path, type: "video/mp4")
    } catch {
      throw CommandFailure(
        .inputMissing, "\(path) cannot be read: \(error)", remedy: "check the path and that you may read the file")
    }
  }
}
