import Glibc
import MediaMutation
import Platform
import Take5Testing
import Testing

@Suite("Mutations of media files", .serialized)
struct MutationTests {
  @Test("no mutation traps a parser or leaves memory")
  func parsers() async throws {
    let tally = try await Self.run(["parsers", "--seeds", "0..<20000"])
    #expect(tally.total == 20_000)
    #expect(tally.count(reaching: .probed) > 10_000)
  }

  @Test("no mutation breaks the media process: a quarter is decoded, a tenth is composed, nothing is left")
  func pipeline() async throws {
    let tally = try await Self.run(["pipeline", "--seeds", "0..<300"])
    #expect(tally.total == 300)
    #expect(tally.count(reaching: .decoded) > 75)
    #expect(tally.count(reaching: .composed) > 30)
    #expect(tally.count(reaching: .published) == tally.count(reaching: .composed))
    #expect(tally.endings("refused ").count >= 3)
  }

  /// Runs `mutate`, which has a process to itself, as it measures what it holds.
  private static func run(_ arguments: [String]) async throws -> Tally {
    let record = "/tmp/take5-mutations-\(getpid())-\(arguments[0])"
    defer { unlink(record) }
    let folder = try #require(Folder.parent(of: Take5Binary.path))
    let command = try await Take5Command.run(arguments + ["--record", record], program: "\(folder)/mutate")
    #expect(command.status == 0, "\(command.output) \(command.errors)")
    return try RangeRecord.read(record).reduce(into: Tally()) { $0.merge($1.tally) }
  }
}
