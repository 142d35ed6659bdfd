import Glibc
import HTTPClient
import Platform
import Take5Testing
import Testing

/// What the programs notify a service manager of, as a unit of `Type=notify` needs it.
@Suite("Notifications to a service manager", .tags(.process), .serialized)
struct ServiceManagerTests {
  @Test("a service is ready when it listens, and stopping after the signal")
  func service() async throws {
    let manager = try NotificationSocket()
    let service = try await Service(workers: 0, environment: [ServiceManager.variable: manager.address])
    // The line with the URL is printed before.
    #expect(try await onThread("manager") { try manager.receive() } == "READY=1")
    #expect(try await service.get("/readyz").status == 200)
    try await service.stop()
    #expect(try await onThread("manager") { try manager.receive() } == "STOPPING=1")
    // Neither PostgreSQL nor a media process notifies the manager in the name of the service.
    #expect(manager.next() == nil)
  }

  @Test("a worker is ready when it is registered")
  func worker() async throws {
    let service = try await Service(workers: 0)
    let manager = try NotificationSocket()
    let worker = try RunningTake5()
    _ = try await worker.start(
      ["worker", "--data", service.data, "--log-format", "text"],
      environment: [ServiceManager.variable: manager.address], printsFirstLine: false)
    #expect(try await onThread("manager") { try manager.receive() } == "READY=1")
    #expect(await worker.waitForLog("worker started"))
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    #expect(try await onThread("manager") { try manager.receive() } == "STOPPING=1")
    try await service.stop()
  }

  @Test("a service whose manager cannot be reached logs that, and serves")
  func unreachable() async throws {
    let service = try await Service(workers: 0, environment: [ServiceManager.variable: "/nonexistent/notify"])
    #expect(await service.process.waitForLog("the service manager could not be notified"))
    #expect(try await service.get("/livez").status == 200)
    try await service.stop()
  }
}
