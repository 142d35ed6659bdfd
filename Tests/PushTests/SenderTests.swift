import Glibc
import HTTPTesting
import Platform
import Push
import Testing

@Suite("Sender")
struct SenderTests {
  private func outcomes(_ sender: Sender, _ deliveries: [Delivery]) async -> [Outcome?] {
    let outcomes = Locked([Outcome?](repeating: nil, count: deliveries.count))
    await sender.send(deliveries) { index, outcome in outcomes.withLock { $0[index] = outcome } }
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
    configuration.apns = try credentials.apns(origin: Origin(host: "127.0.0.1", port: port))
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
}
