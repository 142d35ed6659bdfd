import Platform
import Testing

@Suite("Players", .tags(.players), .serialized)
struct PlayersTests {
  /// Submissions are checked in so many parts, since a test that stands still for three minutes counts as one that hangs.
  private static let parts = 8

  private static func part(_ part: Int, of submissions: [Submission]) -> [Submission] {
    submissions.enumerated().filter { $0.offset % parts == part }.map(\.element)
  }

  init() throws { if !Folder.isFolder(OutputFolder.path) { try Folder.make(OutputFolder.path) } }

  @Test("each program passes intact files and fails a broken file of each type that it reads")
  func broken() async throws {
    let (intact, broken) = try BrokenFiles.outputs()
    try await check(intact, table: "intact.txt")
    let table = try await Table(broken)
    try table.publish("\(OutputFolder.path)/broken.txt")
    for (checker, cells) in zip(table.checkers, table.columns) {
      let failed = Set(zip(table.outputs, cells).filter(\.1.fails).map(\.0.type))
      #expect(failed == checker.reads, "\(checker) passes all broken files of another type")
    }
    for (row, output) in table.outputs.enumerated() {
      #expect(table.columns.contains { $0[row].fails }, "each program passes \(output.name)")
    }
  }

  @Test(
    "each program passes the outputs of the samples and of synthetic clips and photos", arguments: 0..<parts)
  func synthetic(part: Int) async throws {
    let submissions = try Submission.samples() + Submission.syntheticClips() + Submission.syntheticPhotos()
    let outputs = try await inPairs(Self.part(part, of: submissions)) { submission in
      try await onThread("make") { try submission.outputs() }
    }
    try await check(outputs.flatMap(\.self), table: "synthetic-\(part).txt")
  }

  @Test(
    "each program passes the outputs of field media",
    .enabled(if: Submission.fieldFolder != nil, "TAKE5_FIELD_MEDIA is not set"), arguments: 0..<parts)
  func field(part: Int) async throws {
    let outputs = try await inPairs(Self.part(part, of: try Submission.fieldMedia())) { submission in
      try await onThread("make") {
        // Rejections have tests of their own.
        do { return try submission.outputs() } catch let rejection as Submission.Rejection {
          print("\(submission.name) is rejected: \(rejection)")
          return []
        }
      }
    }
    #expect(outputs.contains { !$0.isEmpty })
    try await check(outputs.flatMap(\.self), table: "field-\(part).txt")
  }

  private func check(_ outputs: [Output], table name: String) async throws {
    var seen: Set<Int> = []
    let table = try await Table(outputs.filter { seen.insert($0.digest).inserted })
    try table.publish("\(OutputFolder.path)/\(name)")
    for failure in table.failures { Issue.record("\(failure)") }
  }
}

extension Tag {
  /// Starts programs and decodes media.
  @Tag static var players: Tag
}
