import AV
import Definitions
import Kernels
import MediaFixtures
import Model
import Testing

@Suite("Layouts", .tags(.media))
struct LayoutTests {
  static let front = MarkedClip(.red)
  static let back = MarkedClip(.blue)

  static func run(
    front: MarkedClip = front, back: MarkedClip = back, roles: Set<Role> = [.composed],
    change: (inout Definition) -> Void
  ) throws -> MomentRun {
    var definition = try MomentRun.definition()
    change(&definition)
    let run = try MomentRun(front: front.write(), back: back.write(), definition: definition, roles: roles)
    #expect(run.codes == [])
    return run
  }

  /// The marked colour at a position in the first frame of the composed video.
  static func color(_ run: MomentRun, _ x: Double, _ y: Double) throws -> MarkColor? {
    try run.video(.composed).firstFrame(atX: x, y: y).flatMap { MarkColor(u: $0.u, v: $0.v) }
  }

  @Test("the inset can be in any corner, with both clips in sync", arguments: Definition.Inset.Corner.allCases)
  func corners(corner: Definition.Inset.Corner) throws {
    let run = try Self.run { definition in
      definition.outputs[.composed]?.composed?.inset.corner = corner
      definition.outputs[.composed]?.composed?.inset.margin = 10
    }
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    let inset = try #require(run.plan?.composition?.inset)
    #expect((inset.x == 10) == (corner == .topLeft || corner == .bottomLeft))
    #expect((inset.y == 10) == (corner == .topLeft || corner == .topRight))
  }

  @Test("the border is inside the rectangle of the inset and has rounded corners")
  func border() throws {
    let run = try Self.run { definition in
      definition.outputs[.composed]?.composed?.inset.border = Definition.Border(
        width: 6, color: RGBColor(red: 255, green: 255, blue: 255))
    }
    let inset = try #require(run.plan?.composition?.inset)
    try run.video(.composed).forEachFrame { frame, seconds in
      let middle = inset.y + inset.height / 4
      // The border is white; the foreground is inside it, the background outside and at its rounded corners.
      for x in [inset.x + 2, inset.x + inset.width - 3] { #expect(frame.y[x, middle] > 215, "at \(seconds) s") }
      for x in [inset.x + 9, inset.x + inset.width - 10] {
        #expect(MarkColor(u: frame.u[x / 2, middle / 2], v: frame.v[x / 2, middle / 2]) == .red)
      }
      for x in [inset.x - 3, inset.x + inset.width + 3] {
        #expect(MarkColor(u: frame.u[x / 2, middle / 2], v: frame.v[x / 2, middle / 2]) == .blue)
      }
      #expect(frame.y[inset.x + 1, inset.y + 1] < 60)
    }
  }

  @Test("the foreground is left in the layout `side_by_side` and on top in `stacked`")
  func halves() throws {
    let sideBySide = try Self.run { $0.outputs[.composed]?.composed?.layout = .sideBySide }
    #expect(try Self.color(sideBySide, 0.25, 0.9) == .red)
    #expect(try Self.color(sideBySide, 0.75, 0.9) == .blue)
    let stacked = try Self.run { $0.outputs[.composed]?.composed?.layout = .stacked }
    #expect(try Self.color(stacked, 0.9, 0.2) == .red)
    #expect(try Self.color(stacked, 0.9, 0.8) == .blue)
    // Both halves move.
    var numbers: Set<Int> = []
    try stacked.video(.composed).forEachFrame { frame, _ in
      let lower = frame.region(x: 0, y: frame.height / 2, width: frame.width, height: frame.height / 2)
      if let number = CounterBlocks.read(lower) { numbers.insert(number) }
    }
    #expect(numbers.count <= 1 || numbers.count > 100)
  }

  @Test("a square canvas is filled by cropping the centre")
  func square() throws {
    let run = try Self.run { definition in
      definition.canvas.width = 320
      definition.canvas.height = 320
    }
    let stream = try #require(try run.video(.composed).stream(.video))
    #expect((stream.width, stream.height) == (320, 320))
    #expect(try Self.color(run, 0.95, 0.95) == .blue)
  }

  @Test("the fit `fit` shows entire frames on the canvas colour")
  func fit() throws {
    let wide = MarkedClip(.blue, width: 480, height: 270)
    let run = try Self.run(back: wide) { definition in
      definition.canvas.fit = .fit
      definition.canvas.color = RGBColor(red: 255, green: 255, blue: 255)
      definition.outputs[.composed]?.composed?.inset.margin = 4
    }
    let above = try #require(try run.video(.composed).firstFrame(atX: 0.9, y: 0.05))
    #expect(above.y > 230 && abs(Int(above.u) - 128) < 4 && abs(Int(above.v) - 128) < 4)
    #expect(try Self.color(run, 0.9, 0.5) == .blue)
    let tile = try #require(run.plan?.composition?.tiles.first)
    #expect(abs(Double(tile.rectangle.width) / Double(tile.rectangle.height) - 480.0 / 270) < 0.03)
  }

  @Test("the swapped composition has the same bytes as one with the other foreground, from one decode")
  func swapped() throws {
    let definition = try MomentRun.definition()
    var both = definition
    both.outputs[.composedSwapped] = both.outputs[.composed]
    let (front, back) = (try Self.front.write(), try Self.back.write())
    let run = try MomentRun(front: front, back: back, definition: both, roles: [.composed, .composedSwapped])
    let exchanged = try MomentRun(
      front: front, back: back, foreground: .back, definition: definition, roles: [.composed])
    let plain = try MomentRun(front: front, back: back, definition: definition, roles: [.composed])
    #expect(try run.bytes(.composedSwapped) == exchanged.bytes(.composed))
    #expect(try run.bytes(.composed) == plain.bytes(.composed))
    #expect(run.report.verdict.inputs[.front]?.frames == 150)
  }
}
