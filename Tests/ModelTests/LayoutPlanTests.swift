import Definitions
import Model
import Testing

@Suite("Layouts")
struct LayoutPlanTests {
  static func tiles(
    _ layout: Definition.Composed.Layout, canvas: Size, fit: Definition.Canvas.Fit = .crop,
    front: Size = Size(width: 1080, height: 1920), back: Size = Size(width: 1920, height: 1080),
    corner: Definition.Inset.Corner = .topLeft, margin: Int = 36
  ) throws -> [Tile] {
    var definition = try Definitions.take5Post()
    definition.canvas.width = canvas.width
    definition.canvas.height = canvas.height
    definition.canvas.fit = fit
    definition.outputs[.composed]?.composed?.layout = layout
    definition.outputs[.composed]?.composed?.inset.corner = corner
    definition.outputs[.composed]?.composed?.inset.margin = margin
    let plan = Planner(definition).plan(
      front: PlannerTests.facts(size: front), back: PlannerTests.facts(size: back), foreground: .front)
    return try #require(plan.composition).tiles
  }

  static let canvases = [
    Size(width: 1080, height: 1920), Size(width: 1080, height: 1080), Size(width: 720, height: 1280),
    Size(width: 406, height: 270),
  ]

  @Test(
    "every tile has even numbers and lies on the canvas", arguments: canvases,
    Definition.Composed.Layout.allCases)
  func even(canvas: Size, layout: Definition.Composed.Layout) throws {
    for fit in [Definition.Canvas.Fit.crop, .fit] {
      for back in [Size(width: 1920, height: 1080), Size(width: 171, height: 911), Size(width: 3026, height: 1386)] {
        for corner in Definition.Inset.Corner.allCases {
          let tiles = try Self.tiles(layout, canvas: canvas, fit: fit, back: back, corner: corner, margin: 13)
          #expect(tiles.count == 2)
          for tile in tiles {
            let area = tile.rectangle
            #expect([area.x, area.y, area.width, area.height].allSatisfy { $0 % 2 == 0 }, "\(area)")
            #expect(area.isInside(Rectangle(x: 0, y: 0, width: canvas.width, height: canvas.height)), "\(area)")
          }
          if layout != .inset { #expect(!tiles[0].rectangle.intersects(tiles[1].rectangle)) }
        }
      }
    }
  }

  @Test("the fit 'fit' keeps the aspect ratio and fills one dimension")
  func fits() throws {
    let tiles = try Self.tiles(.stacked, canvas: Size(width: 1080, height: 1920), fit: .fit)
    let back = try #require(tiles.first { $0.input == .back }).rectangle
    #expect(back == Rectangle(x: 0, y: 1136, width: 1080, height: 608))
    let front = try #require(tiles.first { $0.input == .front }).rectangle
    #expect(front == Rectangle(x: 270, y: 0, width: 540, height: 960))
  }
}
