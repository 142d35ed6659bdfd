import Take5Testing
import Testing

@Suite("TAKE5_FAILPOINTS", .timeLimit(.minutes(2)))
struct FailpointVariableTests {
  private func version(_ failpoints: String) async throws -> Take5Command {
    try await Take5Command.run(["version"], environment: ["TAKE5_FAILPOINTS": failpoints])
  }

  @Test(
    "what does not exist is an error at the start, with what does",
    arguments: [
      ("queue.clam.before=kill", "queue.claim"), ("store.claim.before=kill", "store."),
      ("queue.claim.before=die", "kill, stop, cut"), ("blob.link.after=cut", "no connection"),
    ])
  func refused(failpoints: String, hint: String) async throws {
    let command = try await version(failpoints)
    #expect(command.status == 64)
    #expect(command.errors.contains(hint), "\(command.errors)")
  }

  @Test("what exists is waited for in every part of the program")
  func taken() async throws {
    for point in ["queue.claim", "store.post", "blob.synchronize", "media.spawn", "transaction.commit"] {
      #expect(try await version("\(point).before=kill@3").status == 0, "\(point)")
    }
  }
}
