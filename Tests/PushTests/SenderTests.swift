import Glibc
import HTTPTesting
import Platform
import Push
import Testing

@Suite("Sender")
struct SenderTests {
  private func outcomes(_ sender: Sender, _ deliveries: [Delivery]) async -> [Outcome?] {
    let outcomes = Locked([Outcome?](repeating: nil, count: deliveries.count))
    guard !deliveries.isEmpty else { return [] }
    let isComplete = OneShot<Void>()
    sender.send(deliveries) { index, outcome in
      let isLast = outcomes.withLock { outcomes in
        outcomes[index] = outcome
        return !outcomes.contains(nil)
      }
      if isLast { isComplete.fulfil(()) }
    }
    await isComplete.value
    return outcomes.withLock { $0 }
  }

  @Test(
    "each delivery has an outcome, though the provider has no credentials, no server answers, or the sender has stopped"
  )
  func outcomes() async throws {
    let credentials = try await CredentialsFixture()
    // A port that nothing listens on.
    let port = try LocalSocket.listening().port
    var configuration = Sender.Configuration()
    configuration.providers = [try credentials.apns(origin: Origin(host: "127.0.0.1", port: port))]
    let sender = try Sender(configuration)
    var late = Notification.sample
    late.expiry = time(nil) - 1
    let deliveries = [
      Delivery(.sample, to: .apns("0a")), Delivery(.sample, to: .fcm("a")), Delivery(late, to: .apns("0a")),
    ]
    let found = await outcomes(sender, deliveries)
    #expect(found[0] == .retry(after: nil, "https://127.0.0.1:\(port): Connection refused"))
    #expect(found[1] == .credentialsRefused("no credentials for the provider"))
    #expect(found[2] == .expired)
    #expect(await outcomes(sender, []).isEmpty)
    sender.stop()
    let stopped = await outcomes(sender, deliveries)
    #expect(stopped == Array(repeating: .retry(after: nil, "the sender has stopped"), count: 3))
  }

  @Test("a server that a user names and that is silent twice gets nothing for a while, and another one does")
  func silence() async throws {
    let credentials = try await CredentialsFixture()
    let (silent, closed) = (try LocalSocket.listening(), try LocalSocket.listening().port)
    var configuration = Sender.Configuration()
    configuration.providers = [try credentials.webPush()]
    configuration.permitted = [try #require(AddressRange("127.0.0.0/8"))]
    configuration.timeout = .milliseconds(200)
    let sender = try Sender(configuration)
    defer { sender.stop() }
    func subscription(_ port: UInt16) throws -> Delivery {
      let device = try Device.Subscription(
        endpoint: "https://127.0.0.1:\(port)/1", p256dh: try credentials.webPush().publicKey,
        auth: "BTBZMqHH6r4Tts7J_aSIgg")
      return Delivery(.sample, to: .webPush(device))
    }
    for number in 1...4 {
      let found = await outcomes(sender, [try subscription(silent.port), try subscription(silent.port)])
      for outcome in found {
        guard case .retry(let seconds, _) = outcome else {
          Issue.record("\(String(describing: outcome))")
          return
        }
        #expect(
          number <= 2 ? seconds == nil : seconds.map { 30...60 ~= $0 } == true, "\(number): \(outcome ?? .expired)")
      }
    }
    #expect(
      await outcomes(sender, [try subscription(closed)]) == [
        .retry(after: nil, "https://127.0.0.1:\(closed): Connection refused")
      ])
  }
}
