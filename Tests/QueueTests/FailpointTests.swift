import Platform
import Postgres
import Testing

@testable import Queue

struct FailpointTests {
  @Test("every statement of the queue can be interrupted before and after, and its connection cut there")
  func statements() {
    let points = Set(JobQueue.failpoints.filter(\.isOnConnection).flatMap(\.points))
    #expect(JobQueue.statements.names.count > 20)
    for name in JobQueue.statements.names {
      #expect(points.contains("queue.\(name).before"))
      #expect(points.contains("queue.\(name).after"))
    }
  }
}
