import Platform
import Testing

struct ThisProcessTests {
  @Test func raisesTheLimitOfOpenFilesAsFarAsItMay() throws {
    ThisProcess.raiseOpenFilesLimit()
    let limits = try Descriptor(reading: "/proc/self/limits").bytes(count: 4096, at: 0)
    let line = try #require(
      String(decoding: limits, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Max open files") })
    let words = line.split(separator: " ")
    #expect(words[3] == words[4])
  }
}
