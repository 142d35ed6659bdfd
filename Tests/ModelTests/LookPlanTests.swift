import Definitions
import Model
import Testing

@Suite("Plans of first looks")
struct LookPlanTests {
  private static func plan(
    front: ClipFacts = PlannerTests.facts(), back: ClipFacts = PlannerTests.facts()
  ) throws -> Plan {
    Planner(try Definitions.take5Post()).plan(front: front, back: back, foreground: .front)
  }

  @Test("it has what is made without composing and encoding video, and a recipe of its own")
  func moment() throws {
    let plan = try Self.plan()
    let look = try #require(plan.look)
    #expect(look.outputs == [.clipFront, .clipBack, .image, .thumbnailFront, .thumbnailBack])
    #expect(look.isLook == true && plan.isLook == nil && look.moment == nil && look.preview == nil)
    #expect(look.inputs.values.allSatisfy { $0.readsAudio })
    #expect(try JSON.text(look) != JSON.text(plan))
    // Outputs of earlier versions keep their recipes.
    #expect(try !JSON.text(plan).contains("is_look"))
    let hevc = try #require(try Self.plan(front: PlannerTests.facts(codec: "hevc")).look)
    #expect(hevc.outputs == [.clipBack, .image, .thumbnailFront, .thumbnailBack])
    #expect(hevc.inputs[.front]?.readsAudio == false && hevc.inputs[.back]?.readsAudio == true)
    let silent = try #require(try Self.plan(back: PlannerTests.facts(audio: nil)).look)
    #expect(silent.inputs[.back]?.readsAudio == false)
  }

  @Test("a plan with nothing of the kind has none")
  func nothing() throws {
    let hevc = PlannerTests.facts(codec: "hevc")
    let plan = Planner(try Definitions.take5Post()).plan(
      front: hevc, back: hevc, foreground: .front, roles: [.composed, .clipFront, .clipBack, .poster, .preview])
    #expect(plan.outputs.count == 5 && plan.look == nil)
  }

  @Test("its parts are for one input each, and together they have its outputs and its decisions on inputs")
  func parts() throws {
    let look = try #require(try Self.plan().look)
    let parts = look.looks
    #expect(parts.map { Array($0.inputs.keys) } == [[.back], [.front]])
    #expect(parts.map(\.outputs) == [[.clipBack, .image, .thumbnailBack], [.clipFront, .thumbnailFront]])
    #expect(parts.allSatisfy { $0.isLook == true })
    var one = look
    one.clips.removeAll { $0.input == .front }
    one.stills.removeAll { $0.input == .front }
    #expect(one.looks.map { Array($0.inputs.keys) } == [[.back]])
    let clip = try #require(Planner(try Definitions.markerVideo()).plan(clip: PlannerTests.facts()).look)
    #expect(clip.looks.map(\.outputs) == [clip.outputs] && !clip.outputs.contains(.preview))
  }

  @Test("a photo's has the small variants, and its plan has all, from which they are made")
  func photos() throws {
    let plan = try #require(try Definitions.photo("photo-post")).plan
    let look = try #require(plan.look)
    #expect(look.outputs == [.photoSmall, .photoSquare] && look.variants == plan.variants)
    #expect(try JSON.text(look) != JSON.text(plan))
    #expect(try !JSON.text(plan).contains("is_look"))
    var animated = plan
    animated.preview = PhotoPreview(longEdge: 480, quality: 60)
    #expect(animated.outputs == plan.outputs + [.photoPreview] && animated.look == look)
    let large = PhotoPlan(limits: plan.limits, variants: [.photoLarge: PhotoVariant(longEdge: 721, quality: 80)])
    #expect(large.look == nil && large.outputs == [.photoLarge])
    #expect(PhotoPlan(limits: plan.limits, variants: [:]).look == nil)
  }
}

@Suite("Who sees a first look")
struct LookAudienceTests {
  @Test("a definition says it, and the author does without its word")
  func audiences() throws {
    var clips = try Definitions.take5Post()
    var photos = try #require(try Definitions.photo("photo-post"))
    #expect(MediaDefinition.clips(clips).look == .author && MediaDefinition.photos(photos).look == .author)
    for audience in LookAudience.allCases {
      (clips.look, photos.look) = (audience, audience)
      for definition in [MediaDefinition.clips(clips), .photos(photos)] { #expect(definition.look == audience) }
      #expect(try JSON.decode(Definition.self, from: JSON.encode(clips)).look == audience)
      #expect(try JSON.decode(PhotoDefinition.self, from: JSON.encode(photos)).look == audience)
    }
    #expect(LookAudience.allCases.map(\.rawValue) == ["author", "viewers", "none"])
  }

  @Test("another word is answered by the known ones")
  func wrong() throws {
    let clips = #"{"look":"friends","# + (try JSON.text(Definitions.take5Post())).dropFirst()
    let photos = #"{"look":"friends","# + (try JSON.text(#require(try Definitions.photo("photo-post")))).dropFirst()
    func reason<Value: Decodable>(_ type: Value.Type, _ text: String) -> String? {
      do {
        _ = try JSON.decode(type, from: Array(text.utf8))
        return nil
      } catch {
        return JSON.reason(error)
      }
    }
    let expected = "look: 'friends' is not one of author, viewers, none"
    #expect(reason(Definition.self, clips) == expected && reason(PhotoDefinition.self, photos) == expected)
  }

  @Test("a definition that does not say it is stored as before, under the same hash")
  func stored() throws {
    for text in [
      try JSON.text(Definitions.take5Post()), try JSON.text(#require(try Definitions.photo("photo-post"))),
    ] {
      #expect(!text.contains("\"look\""))
      let again =
        text.contains("variants")
        ? try JSON.text(JSON.decode(PhotoDefinition.self, from: Array(text.utf8)))
        : try JSON.text(JSON.decode(Definition.self, from: Array(text.utf8)))
      #expect(again == text)
    }
  }
}
