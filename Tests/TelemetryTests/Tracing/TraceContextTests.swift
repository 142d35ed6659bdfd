import Telemetry
import Testing

@Suite("Trace context")
struct TraceContextTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"

  @Test("a valid traceparent is kept", arguments: ["00", "01"])
  func valid(flags: String) throws {
    let text = "00-\(Self.trace)-\(Self.span)-\(flags)"
    let context = try #require(TraceContext(text))
    #expect(context.description == text && context.isSampled == (flags == "01"))
  }

  @Test("unknown flags are ignored, and so is what a later version adds")
  func future() throws {
    #expect(TraceContext("00-\(Self.trace)-\(Self.span)-03")?.description == "00-\(Self.trace)-\(Self.span)-01")
    #expect(TraceContext("cc-\(Self.trace)-\(Self.span)-02-what-comes")?.isSampled == false)
    #expect(TraceContext("cc-\(Self.trace)-\(Self.span)-01")?.isSampled == true)
  }

  @Test(
    "an invalid traceparent is none",
    arguments: [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-011",
      "00-\(trace)-\(span)-01-more",
      "cc-\(trace)-\(span)-01.more", "ff-\(trace)-\(span)-01", "00-\(trace.uppercased())-\(span)-01",
      "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01", "00-\(trace)-\(span)-0g",
      "00 \(trace)-\(span)-01", "00-\(trace)_\(span)-01", "0x-\(trace)-\(span)-01", "00-\(trace)-\(span)-\u{E9}1",
    ])
  func invalid(text: String) { #expect(TraceContext(text) == nil) }

  @Test("a child is another span of the same trace, and as sampled as its parent")
  func child() throws {
    for flags in ["00", "01"] {
      let parent = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-\(flags)"))
      let child = parent.child().description
      #expect(child.hasPrefix("00-\(Self.trace)-") && child.hasSuffix("-\(flags)") && !child.contains(Self.span))
    }
  }

  @Test("of the traces that strangers sample a share is sampled, whatever ids they choose, and of the others none")
  func strangers() throws {
    let sampled = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-01"))
    let other = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-00"))
    for _ in 0..<1000 {
      #expect(sampled.limited(to: 1) == sampled && sampled.limited(to: 0) == other && other.limited(to: 1) == other)
    }
    // The chance of a result outside of these limits is below 10⁻⁹.
    #expect(2000...3000 ~= (0..<10_000).count { _ in sampled.limited(to: 0.25).isSampled })
  }

  @Test("the ratio decides how many of the traces that begin here are sampled")
  func ratio() throws {
    let all = (0..<1000).map { _ in TraceContext(ratio: 1) }
    #expect(all.allSatisfy(\.isSampled) && Set(all.map(\.description)).count == 1000)
    #expect(!(0..<1000).contains { _ in TraceContext(ratio: 0).isSampled })
    // The chance of a result outside of these limits is below 10⁻⁹.
    #expect(2000...3000 ~= (0..<10_000).count { _ in TraceContext(ratio: 0.25).isSampled })
    for context in all { #expect(TraceContext(context.description) == context) }
  }
}
