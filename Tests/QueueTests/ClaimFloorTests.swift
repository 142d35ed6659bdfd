import Queue
import Testing

@Suite("The floor of claims")
struct ClaimFloorTests {
  @Test("it rises with what is claimed, and everything is looked at once a second")
  func rises() {
    var floor = ClaimFloor()
    #expect(floor.next(at: .zero) == .min)
    floor.note([5, 9, 7], limit: 3)
    #expect(floor.next(at: .milliseconds(10)) == 9)
    floor.note([12, 11, 10], limit: 3)
    #expect(floor.next(at: .milliseconds(20)) == 12)
    #expect(floor.next(at: .milliseconds(1000)) == .min)
    floor.note([3, 4, 5], limit: 3)
    #expect(floor.next(at: .milliseconds(1010)) == 5)
  }

  @Test("a queue that is empty has none")
  func empties() {
    var floor = ClaimFloor()
    _ = floor.next(at: .zero)
    floor.note([5, 6], limit: 2)
    floor.note([8], limit: 2)
    #expect(floor.next(at: .milliseconds(1)) == .min)
  }
}
