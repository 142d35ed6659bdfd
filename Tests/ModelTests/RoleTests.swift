import Model
import Testing

@Suite("Roles")
struct RoleTests {
  @Test("the outputs have the order of plans, and the files of each kind their name")
  func outputs() {
    #expect(
      Role.outputs.map(\.fileName) == [
        "composed.mp4", "composed.swapped.mp4", "composed.small.mp4", "clip.mp4", "clip.front.mp4",
        "clip.back.mp4", "poster.jpg", "image.jpg", "thumbnail.jpg", "thumbnail.front.jpg", "thumbnail.back.jpg",
        "preview.webp",
      ])
  }

  @Test("a role is a source, a variant or the preview of a photo, or an output of clips")
  func kinds() {
    let sources = Role.allCases.filter(\.isSource)
    let variants = Role.allCases.filter(\.isVariant)
    #expect(sources.map(\.fileName) == ["source.front.mp4", "source.back.mp4", "source.clip.mp4", "source.photo.jpg"])
    #expect(variants == [.photoLarge, .photoMedium, .photoSmall, .photoSquare, .avatar, .avatarSmall])
    #expect(variants.allSatisfy { $0.fileName == "\($0.rawValue).jpg" })
    let previews = Role.allCases.filter { $0.kind == .photoPreview }
    #expect(previews.map(\.fileName) == ["photo.preview.webp"])
    #expect(Role.allCases.filter(\.isOfPhoto) == Array(variants.prefix(4)) + previews + Array(variants.suffix(2)))
    #expect(sources.count + variants.count + previews.count + Role.outputs.count == Role.allCases.count)
    #expect(Set(sources + variants + previews + Role.outputs) == Set(Role.allCases))
  }
}
