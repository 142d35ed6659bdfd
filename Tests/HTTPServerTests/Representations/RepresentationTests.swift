import Testing

@testable import HTTPServer

struct RepresentationTests {
  private let representation = Representation(length: 100, entityTag: EntityTag(strong: "abc"), headers: [:])

  @Test(arguments: [
    ("bytes=0-9", Representation.Selection.part(0..<10)),
    ("bytes=90-", .part(90..<100)),
    ("bytes=-10", .part(90..<100)),
    ("bytes=-1000", .part(0..<100)),
    ("bytes=99-1000", .part(99..<100)),
    ("bytes=0-99999999999999999999", .part(0..<100)),
    ("Bytes = 5-5", .part(5..<6)),
    ("bytes=100-", .unsatisfiable),
    ("bytes=99999999999999999999-", .unsatisfiable),
    ("bytes=-0", .unsatisfiable),
    ("bytes=0-9,20-29", .whole),
    ("bytes=9-0", .whole),
    ("bytes=a-b", .whole),
    ("bytes=-", .whole),
    ("bytes=1-2-3", .whole),
    ("bytes=1", .whole),
    ("items=0-9", .whole),
    ("", .whole),
  ])
  func selectsARange(field: String, selection: Representation.Selection) {
    #expect(representation.selection(method: "GET", headers: ["Range": field]) == selection)
  }

  @Test func aRangeOfNothingCannotBeSatisfied() {
    let empty = Representation(length: 0, entityTag: EntityTag(strong: "abc"), headers: [:])
    #expect(empty.selection(method: "GET", headers: ["Range": "bytes=-5"]) == .unsatisfiable)
    #expect(empty.selection(method: "GET", headers: [:]) == .whole)
  }

  @Test func rangesAreForGetAlone() {
    #expect(representation.selection(method: "HEAD", headers: ["Range": "bytes=0-9"]) == .whole)
  }

  @Test(arguments: [
    (#""abc""#, Representation.Selection.part(0..<10)), (#"W/"abc""#, .whole), (#""other""#, .whole),
    ("Sat, 29 Oct 1994 19:43:31 GMT", .whole),
  ])
  func sendsAPartOnlyOfTheVersionThatWasBegun(condition: String, selection: Representation.Selection) {
    #expect(
      representation.selection(method: "GET", headers: ["Range": "bytes=0-9", "If-Range": condition]) == selection)
  }

  @Test(arguments: [
    ("If-None-Match", #""abc""#, Representation.Selection.notModified),
    ("If-None-Match", #""x", W/"abc""#, .notModified),
    ("If-None-Match", "*", .notModified),
    ("If-None-Match", #""x""#, .whole),
    ("If-Match", #""abc""#, .whole),
    ("If-Match", "*", .whole),
    ("If-Match", #"W/"abc""#, .preconditionFailed),
    ("If-Match", #""x""#, .preconditionFailed),
  ])
  func comparesVersions(field: String, value: String, selection: Representation.Selection) {
    #expect(representation.selection(method: "GET", headers: [field: value]) == selection)
  }
}
