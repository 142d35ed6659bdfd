import HTTPTesting
import Platform
import Take5Testing
import Testing

@Suite("Turned away", .tags(.process), .serialized)
struct TurnedAwayTests {
  @Test("metrics and a line of the log tell of who is limited, and why")
  func told() async throws {
    let service = try await Service(workers: 0, ["--address-connections", "2"])
    let port = try service.api().port
    let metrics = try await onThread("client") {
      // Two that are at work: those that are idle would make room.
      let upload =
        "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        + "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
      var first = try ClientConnection(port: port)
      var second = try ClientConnection(port: port)
      try first.send(upload)
      try second.send(upload)
      _ = (try first.receiveHead(), try second.receiveHead())
      var third = try ClientConnection(port: port)
      #expect(try third.receive().status == 429)
      var other = try ClientConnection(port: port, from: "127.0.0.2")
      try other.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let answer = try other.receive().text
      first.finishSending()
      second.finishSending()
      return answer.split(separator: "\n").map(String.init)
    }
    for line in [
      #"take5_http_refused_total{limit="address"} 1"#, "take5_http_connections 3", "take5_http_streams 0",
    ] { #expect(metrics.contains(line), "\(line)") }
    #expect(metrics.contains { $0.hasPrefix("take5_http_requests_in_flight ") })
    #expect(await service.process.waitForLog("turned away"))
    let line = service.process.log.split(separator: "\n").first { $0.contains("turned away") }
    #expect(line?.contains("limit=address") == true && line?.contains("client=127.0.0.1") == true)
    try await service.stop()
  }
}
