import Kernels
import Testing

@Suite struct PictureTests {
  @Test(arguments: [(1, 1), (7, 5), (64, 48), (1081, 3)])
  func buffersHoldAlignedRowsAndRoundedUpChroma(width: Int, height: Int) {
    let buffer = ImageBuffer(width: width, height: height)
    let picture = buffer.picture
    #expect(picture.u.width == (width + 1) / 2 && picture.v.height == (height + 1) / 2)
    for plane in [picture.y, picture.u, picture.v] {
      #expect(Int(bitPattern: plane.base) % AlignedBuffer.alignment == 0)
      #expect(plane.stride % AlignedBuffer.alignment == 0)
      #expect(plane.stride >= plane.width)
    }
    picture.fill(y: 1, u: 2, v: 3)
    #expect(picture.y[width - 1, height - 1] == 1)
    #expect(picture.u[0, 0] == 2)
    #expect(picture.v[0, 0] == 3)
  }

  @Test func anInsetKeepsToItsRectangleInAllPlanes() {
    let frame = ImageBuffer(width: 64, height: 96)
    let inset = ImageBuffer(width: 22, height: 30)
    frame.picture.fill(y: 10, u: 20, v: 30)
    inset.picture.fill(y: 200, u: 210, v: 220)
    let saved = ImageBuffer(width: 22, height: 30)
    let rectangle = frame.picture.region(x: 6, y: 8, width: 22, height: 30)
    saved.picture.copy(from: rectangle.reading)
    rectangle.draw(inset.picture.reading, corners: RoundedCorners(radius: 6))

    #expect(frame.picture.y[6, 8] == 10, "the corner stays the frame's")
    #expect(frame.picture.y[6 + 21, 8 + 29] == 10)
    #expect(frame.picture.y[17, 8] == 200, "the middle of the edge is the inset's")
    #expect(frame.picture.u[3, 4 + 7] == 210)
    #expect(frame.picture.v[3 + 10, 4 + 7] == 220)
    #expect(frame.picture.y[5, 20] == 10 && frame.picture.y[28, 20] == 10)
    #expect(frame.picture.u[2, 10] == 20 && frame.picture.u[14, 10] == 20)

    rectangle.copy(from: saved.picture.reading)
    let planes = [(frame.picture.y, UInt8(10)), (frame.picture.u, 20), (frame.picture.v, 30)]
    for (plane, value) in planes {
      for y in 0..<plane.height {
        for x in 0..<plane.width where plane[x, y] != value { Issue.record("not restored at \(x), \(y)") }
      }
    }
  }

  @Test(arguments: Orientation.allCases)
  func picturesTurnWithTheirChroma(orientation: Orientation) {
    let source = ImageBuffer(width: 10, height: 6)
    source.picture.fill(y: 0, u: 0, v: 0)
    source.picture.y[0, 0] = 255
    source.picture.u[0, 0] = 255
    source.picture.v[0, 0] = 255
    let size = orientation.size(width: 10, height: 6)
    let target = ImageBuffer(width: size.width, height: size.height)
    target.picture.copy(from: source.picture.reading, orientation: orientation)
    let luma = brightest(target.picture.y)
    let chroma = brightest(target.picture.u)
    #expect(chroma == brightest(target.picture.v))
    #expect((luma.x == 0) == (chroma.x == 0) && (luma.y == 0) == (chroma.y == 0))
  }

  private func brightest(_ plane: MutablePlane) -> Position {
    for y in 0..<plane.height {
      for x in 0..<plane.width where plane[x, y] == 255 { return Position(x: x, y: y) }
    }
    return Position(x: -1, y: -1)
  }

  private struct Position: Equatable {
    let x: Int
    let y: Int
  }
}
