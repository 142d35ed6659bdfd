import Glibc
import HTTPClient
import Model
import Platform

/// The service as the command line reaches it.
struct Service: Sendable {
  private let client: HTTPClient
  private let address: ServerAddress

  /// The service that `--server` names, with the API key of the environment or of a file.
  init(_ arguments: Arguments) throws(CommandFailure) {
    let url = arguments.value(Option.server.name) ?? ""
    guard let address = ServerAddress(url: url) else {
      throw CommandFailure(
        .usage, "'\(url)' is no address of a service",
        remedy: "write it as http://HOST:PORT or https://HOST:PORT, without a path")
    }
    self.address = address
    client = HTTPClient(
      server: address, apiKey: try APIKey.read(arguments),
      certificates: arguments.value("--cacert") ?? arguments.variable("SSL_CERT_FILE"))
  }

  /// Submits something; blocks while it is sent.
  func submit(_ submission: Submission, progress: @escaping @Sendable (Double) -> Void) async throws -> MediaAnswer {
    let answer = try await Self.blocking { [client] in
      try client.post(submission.path, form: submission.form, method: submission.method) { sent, total in
        progress(Double(sent) / Double(total))
      }
    }
    return try Self.read(MediaAnswer.self, from: answer)
  }

  /// Reads a post or an image.
  func media(_ id: PublicID, _ resource: Submission.Resource) async throws -> MediaAnswer {
    try await get("/v1/\(resource.rawValue)s/\(id)")
  }

  /// Reads a job, once it is over or so many seconds are gone.
  func job(_ id: PublicID, waiting seconds: Int) async throws -> JobAnswer {
    try await get("/v1/jobs/\(id)?wait=\(seconds)")
  }

  /// Writes a stored media file to an open one.
  func download(_ path: String, to file: Int32) async throws {
    let answer = try await Self.blocking { [client] in
      let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { throw SystemError(call: "fcntl") }
      return try client.get(path, into: Descriptor(owning: copy))
    }
    guard answer.status == 200 else { throw CommandFailure(answer) }
  }

  /// The whole URL of something that the service names by its path.
  func url(of path: String) -> String { "\(address)\(path)" }

  private func get<Value: Decodable & Sendable>(_ path: String) async throws -> Value {
    try Self.read(Value.self, from: try await Self.blocking { [client] in try client.get(path) })
  }

  private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    do {
      return try await onThread("http-client", work)
    } catch let error as HTTPClientError {
      throw CommandFailure(.unavailable, error.description)
    }
  }

  private static func read<Value: Decodable>(_ type: Value.Type, from answer: HTTPAnswer) throws -> Value {
    guard 200..<300 ~= answer.status else { throw CommandFailure(answer) }
    do { return try JSON.decode(type, from: answer.body) } catch {
      throw CommandFailure(
        .unavailable, "what answers is no take5 of this version: \(JSON.reason(error))",
        remedy: "check the address that --server names")
    }
  }
}
