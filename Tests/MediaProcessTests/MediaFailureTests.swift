import MediaProcess
import Model
import Testing

@Suite("Failures of the media process")
struct MediaFailureTests {
  @Test("a failure that the media may cause is a reason with the remedy for clips or for a photo")
  func reason() {
    let failure = MediaFailure(.crashed, "signal 11 ended it")
    #expect(
      failure.reason(input: nil)
        == Reason(.decoderCrashed, input: nil, detail: "signal 11 ended it; film the moment again"))
    #expect(
      failure.reason(input: .photo)
        == Reason(.decoderCrashed, input: .photo, detail: "signal 11 ended it; take another photo"))
    #expect(MediaFailure(.outOfSpace, "the device is full").reason(input: nil) == nil)
  }
}
