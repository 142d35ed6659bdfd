import FoundationEssentials
import Model
import Testing

@Suite("Drafts of posts")
struct PostDraftTests {
  private static let draft = PostDraft(author: "ada", place: Place(id: "lake", name: "Lake", coordinate: nil))

  /// What a moderator reads.
  private static let texts: [PostChange] = [
    PostChange(title: .set("Dusk")), PostChange(caption: .set("Calm")), PostChange(alternativeText: .set("A lake")),
    PostChange(place: .set(PlaceChange(id: "lake", name: .set("Pier"), coordinate: .keep))),
    PostChange(place: .set(nil)), PostChange(fields: FieldChange(["genre": .text("techno")])),
  ]

  @Test("a draft with another text or field has other texts", arguments: texts)
  func reworded(_ change: PostChange) {
    #expect(!change.applied(to: Self.draft).hasTexts(of: Self.draft))
  }

  @Test("a draft that differs in nothing that is read has the same texts")
  func others() {
    var other = PostChange(
      place: .set(
        PlaceChange(id: "pond", name: .set("Lake"), coordinate: .set(Coordinate(latitude: 1, longitude: 2)))),
      location: .set(Coordinate(latitude: 3, longitude: 4)), visibility: .private, foreground: .back,
      minAge: .set(18)
    ).applied(to: Self.draft)
    other.kind = .photo
    other.author = "bob"
    other.capturedAt = Date(timeIntervalSince1970: 0)
    #expect(other.hasTexts(of: Self.draft))
  }
}
