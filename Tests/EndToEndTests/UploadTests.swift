import HTTPClient
import MediaFixtures
import Model
import Platform
import Take5Testing
import Testing

@Suite("Many uploads at once", .tags(.process), .serialized)
struct UploadTests {
  @Test("50 uploads of 2 x 10 MB: 50 answers, in less than 150 MB")
  func fifty() async throws {
    let service = try await Service(workers: 0)
    let clip = try TemporaryFile.bytes(of: Clips.front.write())
    let size = 10_000_000
    // Every second pair is no clip at all; the others are sound clips, filled up to the size.
    var pairs: [(front: String, back: String, status: Int)] = []
    for number in 0..<50 {
      let isClip = number % 2 == 0
      let front = isClip ? Clips.padded(clip, by: size - clip.count, filler: UInt8(number)) : noise(size, number)
      let back = isClip ? Clips.padded(clip, by: size - clip.count, filler: UInt8(100 + number)) : noise(size, -number)
      pairs.append(
        (
          try Clips.write(front, "front\(number).mp4", in: service.folder),
          try Clips.write(back, "back\(number).mp4", in: service.folder), isClip ? 202 : 422
        ))
    }
    let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
      for pair in pairs {
        group.addTask { try await service.submit(front: pair.front, back: pair.back).status != pair.status }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(wrong == 0)
    let peak = try #require(await service.process.peakMemory())
    #expect(peak < 150 << 20, "\(peak >> 20) MiB")
    #expect(try await service.count("SELECT count(*) FROM post") == 25)
    #expect(try service.blobFiles() == 50)
    try await service.stop()
  }

  private func noise(_ count: Int, _ seed: Int) -> [UInt8] {
    var state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  }
}
