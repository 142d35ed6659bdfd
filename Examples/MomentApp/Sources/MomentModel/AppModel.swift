import Foundation
import Observation
import Take5Client

/// What all screens share: who is signed in, and what the service last refused.
@MainActor @Observable
public final class AppModel {
  /// The client of the service.
  public let client: Take5Client
  /// The id of the user; nil: the screens are those of a stranger.
  public private(set) var user: String?
  /// What a banner shows; nil: nothing is wrong.
  public private(set) var banner: String?
  /// The number of events since the start, which screens observe to read their lists again.
  public private(set) var changes = 0
  /// The daily window.
  public private(set) var window: DailyWindow?

  private var following: Task<Void, Never>?
  private var lastEvent: String?

  /// Makes a model.
  public init(client: Take5Client) { self.client = client }

  /// At the start of the app: goes on with what was not sent, and follows the events.
  public func start() async {
    await attempt {
      user = try await client.session?.user
      guard user != nil else { return }
      await client.uploads.resume()
      window = try await client.window()
      follow()
    }
  }

  /// Registers a user.
  public func register(name: String, password: String) async {
    await attempt {
      try await client.register(name: name, password: password)
      await start()
    }
  }

  /// Signs in.
  public func signIn(name: String, password: String) async {
    await attempt {
      try await client.signIn(name: name, password: password)
      await start()
    }
  }

  /// Signs out, and forgets what was not sent.
  public func signOut() async {
    following?.cancel()
    await client.signOut()
    (user, window, lastEvent) = (nil, nil, nil)
  }

  /// Does something; what the service refuses becomes the banner.
  @discardableResult
  public func attempt(_ action: () async throws -> Void) async -> Bool {
    do {
      try await action()
      banner = nil
      return true
    } catch let error as Take5Error {
      banner = error == .cancelled ? nil : "\(error.message) \(error.remedy)"
    } catch {
      banner = error.localizedDescription
    }
    return false
  }

  private func follow() {
    following?.cancel()
    following = Task { [client, lastEvent] in
      do {
        for try await event in client.events(after: lastEvent) { await self.handle(event) }
      } catch {
        await attempt { throw error }
      }
    }
  }

  private func handle(_ event: UserEvent) async {
    lastEvent = event.id ?? lastEvent
    changes += 1
    if event.kind == .windowOpened || event.kind == .windowClosed {
      await attempt { window = try await client.window() }
    }
  }
}
