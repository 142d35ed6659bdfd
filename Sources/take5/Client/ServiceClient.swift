import Glibc
import HTTPClient
import Model
import Platform

/// A client of the service that `--server` names.
struct ServiceClient: Sendable {
  private let client: HTTPClient
  private let address: ServerAddress

  /// Reads `--server`, `--cacert`, the API key and their variables.
  init(_ arguments: Arguments) throws(CommandFailure) {
    let url = arguments.value(Option.server.name) ?? ""
    guard let address = ServerAddress(url: url) else {
      throw CommandFailure(
        .usage, "'\(url)' is not a URL of a service",
        remedy: "write it as http://HOST:PORT or https://HOST:PORT, without a path")
    }
    self.address = address
    client = HTTPClient(
      server: address, apiKey: try APIKey.read(arguments),
      certificates: arguments.value("--cacert") ?? arguments.variable("SSL_CERT_FILE"))
  }

  /// Sends a submission and returns the post or image that it creates.
  func submit(_ submission: Submission, progress: @escaping @Sendable (Double) -> Void) async throws -> MediaResponse {
    let response = try await Self.blocking { [client] in
      try client.post(submission.path, form: submission.form, method: submission.method) { sent, total in
        progress(Double(sent) / Double(total))
      }
    }
    return try Self.read(MediaResponse.self, from: response)
  }

  /// Reads a post or an image.
  func media(_ id: PublicID, _ resource: Submission.Resource) async throws -> MediaResponse {
    try await get("/v1/\(resource.rawValue)s/\(id)")
  }

  /// Reads a job once it has finished, or after `seconds`.
  func job(_ id: PublicID, waiting seconds: Int) async throws -> JobResponse {
    try await get("/v1/jobs/\(id)?wait=\(seconds)")
  }

  /// Downloads a media file into an open file.
  func download(_ path: String, to file: Int32) async throws {
    let response = try await Self.blocking { [client] in
      let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { throw SystemError(call: "fcntl") }
      return try client.get(path, into: Descriptor(owning: copy))
    }
    guard response.status == 200 else { throw CommandFailure(response) }
  }

  /// The absolute URL of a path of the service.
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

  private static func read<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) throws -> Value {
    guard 200..<300 ~= response.status else { throw CommandFailure(response) }
    do { return try JSON.decode(type, from: response.body) } catch {
      throw CommandFailure(
        .unavailable, "the response is not one of this version of take5: \(JSON.reason(error))",
        remedy: "check the URL that --server names")
    }
  }
}

/// The API key. It is never an argument, because every user of the machine can list the arguments of a process.
enum APIKey {
  /// The key in `TAKE5_API_KEY`, or in the first line of the file of `--api-key-file`; nil if neither is given. Of the
  /// file only the option takes precedence over the variable.
  static func read(_ arguments: Arguments) throws(CommandFailure) -> String? {
    let file = arguments.setting(Option.apiKey.name)
    if let key = arguments.variable(OtherVariable.apiKey.name), file?.source.rank != 0 { return key }
    return try file.map { file throws(CommandFailure) in try SecretFile(path: file.text).line(of: .apiKey) }
  }
}
