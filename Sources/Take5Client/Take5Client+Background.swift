#if canImport(Darwin)
  import Darwin
  public import Foundation

  extension Take5Client {
    /// Makes a client whose files the system sends in the background, also while the app is suspended or has ended.
    ///
    /// ```swift
    /// let client = Take5Client(url: url, tokens: KeychainTokenStore(), background: "org.example.app.uploads")
    /// ```
    ///
    /// - Parameters:
    ///   - url: The service.
    ///   - tokens: Where the session is stored.
    ///   - identifier: The identifier of the background session, which is the same in all starts of the app.
    ///   - folder: Where the queue stores submissions until they are sent.
    public init(url: URL, tokens: any TokenStore, background identifier: String, folder: URL? = nil) {
      let connection = Connection(url: url, tokens: tokens, configuration: .ephemeral)
      let sender = BackgroundSender(connection: connection, identifier: identifier)
      let folder = QueueFolder(url: folder ?? QueueFolder.standard(for: url))
      self.init(
        connection: connection, uploads: UploadQueue(connection: connection, folder: folder, sender: sender))
    }

    /// Goes on after the system has started the app for the events of its background session.
    ///
    /// - Parameter completion: What `application(_:handleEventsForBackgroundURLSession:completionHandler:)` has received.
    public func handleBackgroundEvents(completion: @escaping @Sendable () -> Void) async {
      (uploads.sender as? BackgroundSender)?.finishEvents(completion)
      await uploads.resume()
    }
  }
#endif
