import AV
import Kernels
import MediaFixtures
import Model
import Testing

@Suite("Colour", .tags(.media))
struct ColorTests {
  @Test("full range becomes limited range, and says so", arguments: [true, false])
  func fullRange(onTop: Bool) throws {
    var clips = (front: MarkedClip(.red), back: MarkedClip(.blue))
    if onTop { clips.front.isFullRange = true } else { clips.back.isFullRange = true }
    let run = try MomentRun(front: clips.front.write(), back: clips.back.write())
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, pictures: 150)
    #expect(run.report.verdict.decisions.filter { $0.subject == .color }.map(\.input) == [onTop ? .front : .back])
    let image = try StillPicture(run.bytes(.image))
    #expect(image.color(atX: 0.5, y: 0.25) == .blue)
  }

  @Test("a picture without a word on its colours is BT.709 from 720 lines on, else BT.601")
  func guess() {
    let unknown = ColorDescription(range: "unknown", matrix: "unknown", primaries: "unknown", transfer: "unknown")
    #expect(ColorMatrix(unknown, height: 720) == .bt709)
    #expect(ColorMatrix(unknown, height: 576) == .bt601)
    #expect(ColorMatrix(.bt709, height: 100) == .bt709)
  }
}
