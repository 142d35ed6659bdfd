import Kernels
import Testing

@Suite("Image planes")
struct ImagePlanesTests {
  @Test("buffers have aligned rows and chroma rounded up", arguments: [(1, 1), (7, 5), (64, 48), (1081, 3)])
  func buffers(width: Int, height: Int) {
    let buffer = ImageBuffer(width: width, height: height)
    let planes = buffer.imagePlanes
    #expect(planes.u.width == (width + 1) / 2 && planes.v.height == (height + 1) / 2)
    for plane in [planes.y, planes.u, planes.v] {
      #expect(Int(bitPattern: plane.base) % AlignedBuffer.alignment == 0)
      #expect(plane.stride % AlignedBuffer.alignment == 0)
      #expect(plane.stride >= plane.width)
    }
    planes.fill(y: 1, u: 2, v: 3)
    #expect(planes.y[width - 1, height - 1] == 1)
    #expect(planes.u[0, 0] == 2)
    #expect(planes.v[0, 0] == 3)
  }

  @Test("an inset changes only its rectangle in all planes")
  func inset() {
    let frame = ImageBuffer(width: 64, height: 96)
    let inset = ImageBuffer(width: 22, height: 30)
    frame.imagePlanes.fill(y: 10, u: 20, v: 30)
    inset.imagePlanes.fill(y: 200, u: 210, v: 220)
    let saved = ImageBuffer(width: 22, height: 30)
    let rectangle = frame.imagePlanes.region(x: 6, y: 8, width: 22, height: 30)
    saved.imagePlanes.copy(from: rectangle.reading)
    rectangle.draw(inset.imagePlanes.reading, corners: RoundedCorners(radius: 6))

    #expect(frame.imagePlanes.y[6, 8] == 10, "the corner shows the frame")
    #expect(frame.imagePlanes.y[6 + 21, 8 + 29] == 10)
    #expect(frame.imagePlanes.y[17, 8] == 200, "the middle of the edge shows the inset")
    #expect(frame.imagePlanes.u[3, 4 + 7] == 210)
    #expect(frame.imagePlanes.v[3 + 10, 4 + 7] == 220)
    #expect(frame.imagePlanes.y[5, 20] == 10 && frame.imagePlanes.y[28, 20] == 10)
    #expect(frame.imagePlanes.u[2, 10] == 20 && frame.imagePlanes.u[14, 10] == 20)

    rectangle.copy(from: saved.imagePlanes.reading)
    let planes = [(frame.imagePlanes.y, UInt8(10)), (frame.imagePlanes.u, 20), (frame.imagePlanes.v, 30)]
    for (plane, value) in planes {
      for y in 0..<plane.height {
        for x in 0..<plane.width where plane[x, y] != value { Issue.record("not restored at \(x), \(y)") }
      }
    }
  }

  @Test("chroma is transformed like luma", arguments: Orientation.allCases)
  func chroma(orientation: Orientation) {
    let source = ImageBuffer(width: 10, height: 6)
    source.imagePlanes.fill(y: 0, u: 0, v: 0)
    source.imagePlanes.y[0, 0] = 255
    source.imagePlanes.u[0, 0] = 255
    source.imagePlanes.v[0, 0] = 255
    let size = orientation.size(width: 10, height: 6)
    let target = ImageBuffer(width: size.width, height: size.height)
    target.imagePlanes.copy(from: source.imagePlanes.reading, orientation: orientation)
    let luma = brightest(target.imagePlanes.y)
    let chroma = brightest(target.imagePlanes.u)
    #expect(chroma == brightest(target.imagePlanes.v))
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
