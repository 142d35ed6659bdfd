import Platform
import Testing

@Suite("Players", .tags(.players), .serialized)
struct PlayersTests {
  init() throws { if !Folder.isFolder(OutputFolder.path) { try Folder.make(OutputFolder.path) } }

  @Test("every judge refuses a broken file of each type that it reads")
  func broken() async throws {
    let table = try await Table(try Broken.outputs())
    try table.publish("\(OutputFolder.path)/broken.txt")
    for (judge, cells) in zip(table.judges, table.columns) {
      for type in judge.reads.sorted() {
        let isRefused = zip(table.outputs, cells).contains { output, cell in
          guard case .fails = cell else { return false }
          return output.type == type
        }
        #expect(isRefused, "\(judge) passes everything of type \(type)")
      }
    }
    for (row, output) in table.outputs.enumerated() {
      let isRefused = table.columns.contains { if case .fails = $0[row] { true } else { false } }
      #expect(isRefused, "every judge passes \(output.name)")
    }
  }

  @Test("every judge passes every output")
  func outputs() async throws {
    let made = try Submission.samples() + Submission.madeClips() + Submission.madePhotos()
    var outputs = try await inPairs(made) { submission in
      try await onThread("make") { try submission.outputs() }
    }.flatMap(\.self)
    // What of the field media is refused has its own tests.
    outputs += try await inPairs(try Submission.fieldMedia()) { submission in
      try await onThread("make") {
        do { return try submission.outputs() } catch let refusal as Submission.Refusal {
          print("\(submission.name) is refused: \(refusal)")
          return []
        }
      }
    }.flatMap(\.self)
    var seen: Set<Int> = []
    let table = try await Table(outputs.filter { seen.insert($0.digest).inserted })
    try table.publish("\(OutputFolder.path)/table.txt")
    #expect(table.failures == [])
  }
}
