import Model
import Testing

@Suite("Viewers")
struct ViewerTests {
  @Test("a user owns what has the bytes of the own id, and a client that acts as no user owns everything")
  func owns() {
    let viewer = Viewer.user("jos\u{E9}")
    #expect(viewer.owns("jos\u{E9}"))
    for other in ["jose\u{301}", "jos", "", nil] { #expect(!viewer.owns(other), "\(other ?? "nil")") }
    for other in ["jose\u{301}", "", nil] { #expect(Viewer.unrestricted.owns(other)) }
  }

  @Test("a grant can permit each kind of post and image")
  func kinds() {
    let kinds = PostKind.allCases.map { SubmissionKind($0) } + ImageKind.allCases.map { SubmissionKind($0) }
    #expect(kinds == SubmissionKind.allCases)
  }
}
