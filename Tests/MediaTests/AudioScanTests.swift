import Testing

@testable import Media

@Suite("Audio scans")
struct AudioScanTests {
  @Test(
    "samples without a finite power give no detail",
    arguments: [1e20, 3e38, .greatestFiniteMagnitude, .infinity, .nan] as [Float])
  func infinite(magnitude: Float) {
    let square = (0..<4000).map { $0 / 40 % 2 == 0 ? magnitude : -magnitude }
    #expect(AudioScan.detail(of: square).allSatisfy { $0 == 0 })
  }

  @Test("the detail of a signal has the same power at every volume", arguments: [1e-6, 1, 1e6] as [Float])
  func volume(magnitude: Float) {
    let square = (0..<4000).map { $0 / 40 % 2 == 0 ? magnitude : -magnitude }
    let detail = AudioScan.detail(of: square).map { Int($0) * Int($0) }
    let mean = Double(detail.reduce(0, +)) / Double(detail.count)
    #expect((200...256).contains(mean.squareRoot()))
  }
}
