import Queue
import SeededRandom
import Testing

@Suite("Calls of jobs")
struct JobCallTests {
  @Test("a payload is read as it was written, and nothing else is")
  func payloads() {
    for call in [JobCall("media"), JobCall("look", number: 7, isOver: true)] {
      #expect(JobCall(payload: call.payload) == call)
    }
    for text in ["", "media", "media x", "media 1 end", "media 1 over 2", "media -1", " "] {
      #expect(JobCall(payload: text) == nil, "\(text)")
    }
  }

  @Test(
    "few workers all answer at once; of many two do, after each moment as many more as have, and in the end all",
    arguments: [1, 2, 10, 1000])
  func delays(workers: Int) {
    let delays = (0..<workers).map { JobCalls.delay(among: workers, draw: (Double($0) + 0.5) / Double(workers)) }
    let moments = Dictionary(grouping: delays) { $0 }.mapValues(\.count).sorted { $0.key < $1.key }
    #expect(moments.first?.key == .zero && moments.first?.value == min(workers, JobCalls.first))
    var answered = 0
    for (_, count) in moments {
      #expect(answered == 0 || count <= answered)
      answered += count
    }
    #expect(answered == workers && moments.last?.key ?? .zero <= .milliseconds(150))
  }

  @Test("a call is answered once, and not if it has ended; the next claim says what it has found")
  func answers() {
    var calls = JobCalls()
    #expect(calls.receive(1) && calls.receive(2))
    calls.end(2)
    #expect(calls.answer(1) && !calls.answer(1) && !calls.answer(2) && !calls.answer(3))
    let answered = calls.takeAnswered()
    #expect(answered == [1] && calls.takeAnswered().isEmpty)
    #expect(
      JobCalls.reply(to: answered, in: "media", isFull: false, among: 3) == [JobCall("media", number: 1, isOver: true)])
    let further = JobCalls.reply(to: answered, in: "media", isFull: true, among: 3)
    #expect(further.count == 1 && further.allSatisfy { $0.queue == "media" && !$0.isOver })
    // All of few have answered, and none is to be called again without a call.
    #expect(JobCalls.reply(to: answered, in: "media", isFull: false, among: 2).isEmpty)
    #expect(JobCalls.reply(to: [], in: "media", isFull: true, among: 3).isEmpty)
    var full = JobCalls()
    #expect((0..<2000).contains { !full.receive($0) })
  }

  /// Workers with one slot each, all idle, and jobs that are called one after the other; a claim takes a moment's third.
  @Test(
    "what one job costs does not grow with the workers, and each job has a worker soon", arguments: [3, 10, 100, 1000])
  func herd(workers: Int) {
    var random = SplitMix64(seed: UInt64(workers))
    var (claims, latest) = (0, Duration.zero)
    for _ in 0..<50 {
      var isTaken = false
      // The times at which calls are received.
      var calls = [Duration.zero]
      while let received = calls.popLast() {
        let answers = (0..<workers).map { _ in
          received + JobCalls.delay(among: workers, draw: .random(in: 0..<1, using: &random))
        }.sorted()
        var end: Duration?
        for answer in answers {
          if let end, end <= answer { break }
          claims += 1
          let reply = answer + .milliseconds(5)
          if isTaken {
            end = min(end ?? reply, reply)
          } else {
            isTaken = true
            latest = max(latest, answer)
            calls.append(reply)
          }
        }
      }
      #expect(isTaken)
    }
    #expect(claims <= 50 * 20, "\(claims) claims of 50 jobs")
    #expect(latest <= .milliseconds(75))
  }
}
