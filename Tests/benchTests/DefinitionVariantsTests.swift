import Definitions
import Model
import Testing

@testable import bench

@Suite("Definitions that are measured")
struct DefinitionVariantsTests {
  @Test("what is compared makes what the commands make, encoded as shipped")
  func comparable() throws {
    let shipped = try Definitions.take5Post()
    let definition = try shipped.comparable()
    #expect(definition.outputs.roles == [.composed, .poster, .thumbnailFront, .thumbnailBack])
    #expect(definition.outputs.composed == shipped.outputs.composed)
    #expect(definition.canvas == shipped.canvas)
    // take5 reads it from a file.
    #expect(try JSON.decode(Definition.self, from: JSON.encode(definition)) == definition)
  }

  @Test("a smaller canvas has a smaller margin and smaller corners, of the same shape")
  func scaled() throws {
    let small = try Definitions.take5Post().comparable().scaled(toWidth: 720)
    #expect(small.canvas.size == Size(width: 720, height: 1280))
    #expect(small.outputs.composed?.inset.margin == 24)
    #expect(small.outputs.composed?.inset.radius == 24)
    #expect(small.outputs.composed?.inset.width == 0.3)
  }

  @Test("variants that make other bytes have other names")
  func names() throws {
    let shipped = try Definitions.take5Post().comparable()
    let others = [
      shipped.scaled(toWidth: 720), shipped.encoded(Definition.VideoEncoding(preset: "veryfast", crf: 23)),
      shipped.encoded(Definition.VideoEncoding(preset: "veryfast", crf: 23.5)),
    ]
    #expect(Set([shipped.variant] + others.map(\.variant)).count == 4)
  }
}
