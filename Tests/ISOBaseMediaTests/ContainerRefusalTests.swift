import ISOBaseMedia
import Model
import Testing

@Suite("Refusals of containers")
struct ContainerRefusalTests {
  private static let refusals: [(ContainerRefusal, ReasonCode, String)] = [
    (
      .empty, .emptyFile,
      "The file is empty. Send the clip itself; the app may have sent it before it was written."
    ),
    (
      .truncated(finding: "it ends inside 'moov'", offset: 8), .truncatedContainer,
      "The file is truncated: it ends inside 'moov' (at byte 8). Send the clip again after it was saved completely."
    ),
    (
      .damaged(finding: "'stts' is empty", offset: 16), .truncatedContainer,
      "The file is damaged: 'stts' is empty (at byte 16). Send or export the clip again."
    ),
    (.noVideoTrack(handlers: []), .noVideoStream, "The file has no tracks. Send the clip itself."),
    (
      .noVideoTrack(handlers: ["soun"]), .noVideoStream,
      "The file has no video track, only 'soun'. Send the clip, not only its audio."
    ),
  ]

  @Test("the detail of a reason has the finding and the remedy", arguments: refusals)
  func detail(refusal: ContainerRefusal, code: ReasonCode, detail: String) {
    let reason = Reason(refusal, input: .front)
    #expect(reason.code == code && reason.input == .front && reason.byteOffset == refusal.offset)
    #expect(reason.detail == detail)
    #expect(refusal.description == detail)
  }

  @Test("at most eight tracks are named")
  func manyTracks() {
    let refusal = ContainerRefusal.noVideoTrack(handlers: [BoxType](repeating: "soun", count: 9000))
    let eight = [String](repeating: "'soun'", count: 8).joined(separator: ", ")
    #expect(
      refusal.description
        == "The file has no video track, only \(eight), 8992 others. Send the clip, not only its audio.")
  }

  @Test("the remedy names the kind of file that was expected")
  func otherFiles() {
    let image = FileSignature(Array("GIF89a".utf8))
    let clip = Reason(ContainerRefusal.unsupported(image), input: .clip).detail
    #expect(
      clip
        == "The file is \(image.name), not a MOV, MP4 or 3GP video, regardless of its name. Send the clip, not an image."
    )
    let text = FileSignature(Array("hello".utf8))
    let photo = Reason(unsupportedPhoto: text, accepted: [.jpeg]).detail
    #expect(photo == "The file is \(text.name), not a photo of an accepted format (JPEG). Export the photo as JPEG.")
    #expect(
      Reason(unsupportedMedium: []).detail
        == "The file is empty. Send the clip or the photo itself; the app may have sent it before it was written.")
    #expect(
      Reason(unsupportedMedium: Array("hello".utf8)).detail.hasSuffix(
        ", regardless of its name. Export the clip as MP4, or the photo as JPEG."))
  }
}
