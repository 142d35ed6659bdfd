public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A client of one service: sign-in, submissions that survive the end of the app, lists, and events.
///
/// A client is a value that may be copied; its copies share the session, the queue and the connections. An app makes one at its start.
///
/// ```swift
/// let client = Take5Client(url: URL(string: "https://api.example.org")!, tokens: MemoryTokenStore())
/// try await client.signIn(name: "ada", password: "correct horse")
/// let upload = try await client.uploads.film(front: front, back: back, caption: "Dusk")
/// for await progress in upload.progress { print(progress.fraction) }
/// for try await post in client.posts.feed(include: [.author, .mine]) { print(post.caption ?? "") }
/// ```
public struct Take5Client: Sendable {
  let connection: Connection

  /// The submissions that wait, and the ones that were made without a network.
  public let uploads: UploadQueue

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - url: The service, such as `https://api.example.org`; a path that ends in `/v1` names the service too. Without a scheme
  ///     and a host each call throws a problem with the code `client`.
  ///   - tokens: Where the session is stored; on Apple's platforms a `KeychainTokenStore`.
  ///   - folder: Where the queue stores submissions until they are sent; by default a folder for this service in Application Support.
  ///   - configuration: Configures the connections. `ephemeral` has neither cookies nor a cache, which the service does not need.
  public init(
    url: URL, tokens: any TokenStore, folder: URL? = nil, configuration: URLSessionConfiguration = .ephemeral
  ) {
    let connection = Connection(url: url, tokens: tokens, configuration: configuration)
    self.connection = connection
    uploads = UploadQueue(
      connection: connection, folder: QueueFolder(url: folder ?? QueueFolder.standard(for: url)),
      sender: PartSender(connection: connection))
  }

  init(connection: Connection, uploads: UploadQueue) {
    self.connection = connection
    self.uploads = uploads
  }

  /// Posts, comments and reactions.
  public var posts: Posts { Posts(connection: connection) }

  /// Users, friends and likes.
  public var users: Users { Users(connection: connection) }

  /// Reads the daily window.
  public func window() async throws(Take5Error) -> DailyWindow {
    try await connection.value(Request("GET", "/v1/window"))
  }

  /// What happens to what concerns the user, from now on or from after an event that was seen. The stream reconnects by itself and
  /// continues after its last event.
  ///
  /// - Parameter last: The `id` of the last event that the app has handled, for what happened meanwhile.
  public func events(after last: String? = nil) -> EventSequence { EventSequence(connection: connection, last: last) }
}
