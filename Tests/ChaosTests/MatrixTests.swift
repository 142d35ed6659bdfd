import Platform
import PostgresTesting
import Queue
import Take5Testing
import Testing

@testable import ChaosTesting

struct MatrixTests {
  @Test("the matrix covers every failpoint of the queue")
  func failpoints() {
    let covered = Set(Matrix.workerFailpoints + Matrix.producerFailpoints)
    let known = Set(ChaosSchema.failpoints.map(\.name)).subtracting(JobQueue.readingFailpoints.map(\.name))
    #expect(
      known.subtracting(covered).subtracting(Matrix.controllerFailpoints).subtracting(Matrix.serviceFailpoints).sorted()
        == [])
    #expect(covered.subtracting(known).sorted() == [])
  }

  @Test("every failpoint is crossed with every fault, before and after")
  func cells() {
    let failpoints = Matrix.workerFailpoints.count + Matrix.producerFailpoints.count
    // A connection cannot be cut while it is opened.
    #expect(Matrix.cells.count == failpoints * 2 * Matrix.faults.count - 4)
    #expect(Set(Matrix.cells).count == Matrix.cells.count)
  }

  @Test("a slice has equal numbers of all faults, and depends on the seed only")
  func slice() {
    let slice = Matrix.slice(24, seed: 5)
    #expect(Set(slice).count == 24)
    for fault in Matrix.faults { #expect(slice.count { $0.fault == fault } == 4) }
    #expect(Matrix.slice(24, seed: 5) == slice)
    #expect(Matrix.slice(24, seed: 6) != slice)
  }
}

@Suite("a slice of the matrix", .tags(.chaos), .timeLimit(.minutes(60)))
struct MatrixSliceTests {
  @Test("no job is lost or done twice after faults at some failpoints")
  func slice() async throws {
    let folder = try TemporaryFolder(prefix: "take5-matrix")
    #expect(try await Matrix.run(Matrix.slice(24, seed: 1), lanes: 4, folder: folder.path).violations == [])
  }
}

@Suite("TAKE5_FAILPOINTS", .timeLimit(.minutes(60)))
struct FailpointVariableTests {
  private func version(_ failpoints: String) async throws -> Take5Command {
    try await Take5Command.run(["version"], environment: ["TAKE5_FAILPOINTS": failpoints])
  }

  @Test(
    "an unknown failpoint is an error at the start that lists known ones",
    arguments: [
      ("queue.clam.before=kill", "queue.claim"), ("store.claim.before=kill", "store."),
      ("queue.claim.before=die", "kill, stop, cut"), ("blob.link.after=cut", "no connection"),
    ])
  func refused(failpoints: String, hint: String) async throws {
    let command = try await version(failpoints)
    #expect(command.status == 64)
    #expect(command.errors.contains(hint), "\(command.errors)")
  }

  @Test("failpoints of every part of the program are accepted")
  func accepted() async throws {
    for point in ["queue.claim", "store.post", "blob.synchronize", "media.spawn", "transaction.commit"] {
      #expect(try await version("\(point).before=kill@3").status == 0, "\(point)")
    }
  }
}
