import Glibc
import Platform
import Take5Testing
import Testing

@Suite("Service manager")
struct ServiceManagerTests {
  @Test("a notification arrives at a path and at an abstract address", arguments: [false, true])
  func arrives(isAbstract: Bool) throws {
    let socket = try NotificationSocket(isAbstract: isAbstract)
    let manager = try #require(ServiceManager(address: socket.address))
    try manager.notify(.ready)
    try manager.notify(.stopping)
    #expect(try socket.receive() == "READY=1")
    #expect(try socket.receive() == "STOPPING=1")
  }

  @Test(
    "without an address, or with one of another form, no manager waits",
    arguments: [nil, "", "run/notify", "vsock:2:1"])
  func none(_ address: String?) {
    #expect(ServiceManager(address: address) == nil)
  }

  @Test(
    "an address without a listener, and one that is too long, is an error",
    arguments: [("/nonexistent/notify", ENOENT), ("/" + String(repeating: "n", count: 200), ENAMETOOLONG)])
  func unreachable(_ address: String, _ code: Int32) throws {
    let manager = try #require(ServiceManager(address: address))
    let error = #expect(throws: SystemError.self) { try manager.notify(.ready) }
    #expect(error?.code == code && error?.subject == address)
  }
}
