import HTTPTesting
import Model
import Testing

@testable import Rooms

/// Requests of an app's back-end and of the phones of its users.
enum UserClient {
  static let backend = [("Authorization", "Bearer t5-backend")]
  static let json = [("Content-Type", "application/json")]

  static func send(
    _ method: String, _ path: String, _ credential: [(String, String)], _ body: String? = nil, _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await request(
      method, path, port: api.port, headers: credential + (body == nil ? [] : json), body: body.map { Array($0.utf8) })
  }

  /// Sends a request of the back-end, which acts as a user if it names one.
  static func send(
    _ api: RunningAPI, _ method: String, _ path: String, as user: String? = nil, _ body: String? = nil,
    _ headers: [(String, String)] = []
  ) async throws -> ClientResponse {
    try await send(method, path, backend + headers + (user.map { [("Take5-User", $0)] } ?? []), body, api)
  }

  static func bearer(_ minted: ClientResponse) throws -> [(String, String)] {
    [("Authorization", "Bearer \(try #require(minted.json["token"].text))")]
  }

  static func kind(_ response: ClientResponse) -> String? {
    response.json["type"].text?.split(separator: ":").last.map(String.init)
  }

  /// Stores a post without media, and returns its path.
  static func post(
    _ api: RunningAPI, by author: String = "ada", _ visibility: String = "public"
  ) async throws -> String {
    let body = #"{"kind":"marker","title":"Here","author":"\#(author)","visibility":"\#(visibility)"}"#
    let response = try await send("POST", "/v1/posts", backend, body, api)
    return try #require(response.headers["location"])
  }

  static func with(
    _ setting: RunningAPI.Setting = .init(), _ body: (RunningAPI) async throws -> Void
  ) async throws {
    try await RunningAPI.with(setting) { api in
      _ = try await api.createKey("t5-backend", [.submit, .read, .change, .delete, .tokens])
      try await body(api)
    }
  }
}
