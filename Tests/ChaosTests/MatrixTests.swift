import Platform
import Queue
import Testing

@testable import ChaosTesting

struct MatrixTests {
  @Test("every failpoint of the queue lies on the way of a worker or a producer of the matrix")
  func acts() {
    let covered = Set(Matrix.workerActs + Matrix.producerActs)
    let known = Set(ChaosSchema.failpoints.map(\.name)).subtracting(JobQueue.readingFailpoints.map(\.name))
    #expect(known.subtracting(covered).subtracting(Matrix.foreignActs).subtracting(Matrix.serviceActs).sorted() == [])
    #expect(covered.subtracting(known).sorted() == [])
  }

  @Test("every act is crossed with every fault, before and after")
  func cells() {
    let acts = Matrix.workerActs.count + Matrix.producerActs.count
    // The opening of a connection cannot be cut.
    #expect(Matrix.cells.count == acts * 2 * Matrix.faults.count - 4)
    #expect(Set(Matrix.cells).count == Matrix.cells.count)
  }

  @Test("a slice has each fault as often as the others, and is the same for the same seed")
  func slice() {
    let slice = Matrix.slice(24, seed: 5)
    #expect(Set(slice).count == 24)
    for fault in Matrix.faults { #expect(slice.count { $0.fault == fault } == 4) }
    #expect(Matrix.slice(24, seed: 5) == slice)
    #expect(Matrix.slice(24, seed: 6) != slice)
  }
}
