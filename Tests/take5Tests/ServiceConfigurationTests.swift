import HTTPServer
import Kit
import MediaProcess
import Platform
import Queue
import Rooms
import Store
import Testing
import Worker

@testable import take5

@Suite("Configuration of a service")
struct ServiceConfigurationTests {
  private static let options = CommandOption.all.filter { $0.option.property != nil }

  @Test("an option sets the property that it names, and has the property's default", arguments: options)
  func properties(_ subject: CommandOption) throws {
    let option = subject.option
    let property = try #require(option.property as? PartialKeyPath<ServiceConfiguration>)
    func text(_ given: [String]) throws -> String? {
      try ServiceConfiguration([option], try subject.arguments(given)).text(of: property, option.values)
    }
    for value in subject.values where !value.contains(".") { #expect(try text([option.name, value]) == value) }
    #expect(try text([]) == option.defaultValue)
  }

  @Test("the units are bytes and seconds, and limits without a default are none")
  func units() throws {
    let standard = try ServiceConfiguration([], Arguments([], of: .serve, environment: [:]))
    #expect(standard.api.minFree == 256 << 20 && standard.worker.media.memoryLimit == 2048 << 20)
    #expect(standard.api.uploadLifetime == 86_400 && standard.worker.queue.lease == .seconds(30))
    #expect(standard.keepRejected == .seconds(604_800) && standard.releasedPause == .seconds(3600))
    #expect(standard.authorConcurrency == nil)
    #expect(standard.api.quotas == Quotas() && !standard.hasAccounts && !standard.api.redirectsMedia)
    #expect(standard.api.rooms.webhookPermits == WebhookPermits())
  }

  @Test("the options of serve are read from the command line, the environment and the file")
  func serving() throws {
    let given = [
      "--listen", "0.0.0.0:81", "--trusted-proxy", "10.0.0.1", "--allow-origin", "https://a.example", "--slots", "0",
      "--min-free", "5", "--serve-media", "redirect", "--accounts", "on", "--user-daily-mib", "3", "--poll", "0.25",
      "--address-attempts", "2", "--upload-idle", "7", "--webhook-permit", "mailer.internal",
    ]
    let file = ConfigurationFile(path: "f", Array("key-daily-posts = 9\nuploads = 8\n".utf8))
    let arguments = try Arguments(
      given, of: .serve, environment: ["TAKE5_API_KEY": "k", "TAKE5_UPLOADS": "6", "TAKE5_SANDBOX": "off"], file: file)
    let read = try ServiceConfiguration(serving: arguments, at: ServiceExposure(arguments))
    #expect(read.server.host == "0.0.0.0" && read.server.port == 81 && read.server.trustedProxies.count == 1)
    #expect(read.worker.slots == 0 && read.worker.media.sandbox == .off)
    #expect(read.worker.queue.pollInterval == .milliseconds(250))
    #expect(read.api.minFree == 5 << 20 && read.api.redirectsMedia && read.api.uploadIdle == 7)
    #expect(read.api.maxSubmissions == 6)
    #expect(read.api.quotas.user == DailyQuota(bytes: 3 << 20) && read.api.quotas.key == DailyQuota(posts: 9))
    #expect(read.limits.attemptsOfAddress == RateLimits.Rate(perMinute: 2, burst: 12))
    #expect(read.api.rooms.webhookPermits == WebhookPermits("mailer.internal"))
    #expect(read.hasAccounts && read.key == "k" && read.identity.providers.isEmpty)
  }

  @Test(
    "what is wrong with an option is named with its source", arguments: ["--allow-origin", "--slots", "--jwt-keys"])
  func wrong(option: String) throws {
    let arguments = try Arguments([option, "x"], of: .serve, environment: [:])
    #expect(throws: CommandFailure.self) {
      try ServiceConfiguration(serving: arguments, at: ServiceExposure(arguments))
    }
  }
}
