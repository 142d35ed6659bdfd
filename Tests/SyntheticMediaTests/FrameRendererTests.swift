import Kernels
import SyntheticMedia
import Testing

/// One colour everywhere but in the top left quarter, which is black.
private struct Patch: Shot {
  let background: Color

  func color(_ x: Float, _ y: Float) -> Color { x < 0.5 && y < 0.5 ? .zero : background }
}

@Suite struct PictureRendererTests {
  /// Values of BT.709 in limited range (ITU-R BT.709-6, 3.4 and 3.5).
  @Test(arguments: [
    (Color(1, 1, 1), [235, 128, 128]), (Color(1, 0, 0), [63, 102, 240]), (Color(0, 1, 0), [173, 42, 26]),
    (Color(0, 0, 1), [32, 240, 118]), (Color(0, 0, 0), [16, 128, 128]),
  ])
  func coloursBecomeTheirBT709Values(color: Color, expected: [Int]) async {
    let picture = ImageBuffer(width: 64, height: 96)
    await FrameRenderer(width: 64, height: 96, grain: 0).render(Patch(background: color), frame: 0, into: picture)
    let pixels = picture.picture
    let found = [pixels.y[60, 90], pixels.u[30, 45], pixels.v[30, 45]].map { Int($0) }
    for (value, other) in zip(found, expected) { #expect(abs(value - other) <= 1) }
    #expect(pixels.y[5, 5] == 16)
    #expect(pixels.y[40, 5] == pixels.y[60, 90])
  }

  @Test func theSameFrameHasTheSameGrainAndTheNextAnother() async {
    let renderer = FrameRenderer(width: 32, height: 32, grain: 4)
    var lumas: [[UInt8]] = []
    for frame in [3, 3, 4] {
      let picture = ImageBuffer(width: 32, height: 32)
      await renderer.render(Patch(background: Color(repeating: 0.5)), frame: frame, into: picture)
      lumas.append((0..<32 * 32).map { picture.picture.y[$0 % 32, $0 / 32] })
    }
    #expect(lumas[0] == lumas[1])
    #expect(lumas[0] != lumas[2])
  }
}
