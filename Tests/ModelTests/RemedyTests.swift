import Model
import Testing

@Suite("Remedies")
struct RemedyTests {
  @Test("each reason and each warning has a remedy that is a sentence, for clips and for photos")
  func sentences() {
    let remedies =
      ReasonCode.allCases.flatMap { code in [nil, .clip, .photo].map { Remedy(for: code, input: $0) } }
      + WarningCode.allCases.map { Remedy(for: $0) }
    for remedy in remedies {
      #expect(remedy.sentence.first?.isUppercase == true && remedy.sentence.hasSuffix("."))
      #expect(remedy.clause.first?.isLowercase == true && !remedy.clause.hasSuffix("."))
    }
  }

  @Test(
    "the remedy after a crash depends on what was submitted",
    arguments: [ReasonCode.decoderCrashed, .memoryLimitExceeded, .deadlineExceeded])
  func crashes(code: ReasonCode) {
    #expect(Remedy(for: code, input: nil).clause == "film the moment again")
    #expect(Remedy(for: code, input: .clip).clause == "film it again")
    #expect(Remedy(for: code, input: .photo).clause == "take another photo")
  }

  @Test("a detail is the finding and the remedy")
  func details() {
    #expect(
      Reason(.tooLarge, input: .front, finding: "it has 7680x4320 pixels").detail
        == "It has 7680x4320 pixels. Film at a lower resolution.")
    #expect(
      Reason(.tooLarge, input: .front, finding: "it has 480 frames per second", remedy: .filmSlower).detail
        == "It has 480 frames per second. Film with fewer frames per second.")
    #expect(
      Reason(.emptyFile, input: .photo, finding: "the file is empty", remedy: .sendPhoto).detail
        == "The file is empty. Send the photo itself.")
    #expect(
      Warning(.silentAudio, input: .back, finding: "its audio is silent throughout").detail
        == "Its audio is silent throughout. Allow the app to use the microphone, and film again.")
    #expect(Reason.sameFileTwice.detail == "front and back are the same file; submit the clip of each camera")
  }
}
