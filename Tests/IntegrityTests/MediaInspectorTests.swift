import Integrity
import MediaFixtures
import MediaProcess
import Testing

@Suite("The inspector of media")
struct MediaInspectorTests {
  @Test("decodes photos of sizes that only some definition accepts", arguments: [(20_000, 15_000), (65_000, 31_500)])
  func large(width: Int, height: Int) async throws {
    let inspector = try MediaInspector(MediaProcess.Configuration())
    let photo = try TemporaryFile.make(PhotoFixture.greyJPEG(width: width, height: height))
    let result = try await inspector.inspect(photo, isSource: true)
    #expect(result == .decoded(MediaProperties(type: "image/jpeg", width: width, height: height)))
    await inspector.stop()
  }
}
