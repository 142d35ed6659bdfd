import Platform
import Testing

@Suite("Players", .tags(.players), .serialized)
struct PlayersTests {
  init() throws { if !Folder.isFolder(OutputFolder.path) { try Folder.make(OutputFolder.path) } }

  @Test("every judge passes what is whole, and refuses a broken file of each type that it reads")
  func broken() async throws {
    let (whole, broken) = try Broken.outputs()
    try await judge(whole, table: "whole.txt")
    let table = try await Table(broken)
    try table.publish("\(OutputFolder.path)/broken.txt")
    for (judge, cells) in zip(table.judges, table.columns) {
      let refused = Set(zip(table.outputs, cells).filter(\.1.fails).map(\.0.type))
      #expect(refused == judge.reads, "\(judge) passes everything of another type")
    }
    for (row, output) in table.outputs.enumerated() {
      #expect(table.columns.contains { $0[row].fails }, "every judge passes \(output.name)")
    }
  }

  @Test("every judge passes what is made of the samples, and of clips and photos by formula")
  func made() async throws {
    let submissions = try Submission.samples() + Submission.madeClips() + Submission.madePhotos()
    let outputs = try await inPairs(submissions) { submission in
      try await onThread("make") { try submission.outputs() }
    }
    try await judge(outputs.flatMap(\.self), table: "made.txt")
  }

  @Test(
    "every judge passes what is made of phones' media",
    .enabled(if: Submission.fieldFolder != nil, "TAKE5_FIELD_MEDIA is not set"))
  func field() async throws {
    let outputs = try await inPairs(try Submission.fieldMedia()) { submission in
      try await onThread("make") {
        // What is refused has its own tests.
        do { return try submission.outputs() } catch let refusal as Submission.Refusal {
          print("\(submission.name) is refused: \(refusal)")
          return []
        }
      }
    }
    #expect(outputs.contains { !$0.isEmpty })
    try await judge(outputs.flatMap(\.self), table: "field.txt")
  }

  private func judge(_ outputs: [Output], table name: String) async throws {
    var seen: Set<Int> = []
    let table = try await Table(outputs.filter { seen.insert($0.digest).inserted })
    try table.publish("\(OutputFolder.path)/\(name)")
    for failure in table.failures { Issue.record("\(failure)") }
  }
}
