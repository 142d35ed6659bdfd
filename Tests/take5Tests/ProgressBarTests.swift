import Testing

@testable import take5

@Suite("Progress bar")
struct ProgressBarTests {
  @Test("it tells how far, which stage, and how long it will take")
  func text() {
    let text = ProgressBar.text(title: "composing", fraction: 0.5, stage: "compose", elapsed: .seconds(4))
    #expect(text == "composing  [############············]  50 %  compose  4 s left")
    #expect(ProgressBar.text(title: "x", fraction: 7, stage: "", elapsed: .zero).hasSuffix("] 100 %"))
    #expect(ProgressBar.text(title: "x", fraction: 0, stage: "", elapsed: .zero).hasSuffix("]   0 %"))
  }

  @Test("it is shorter than the line, whose bar gives way first", arguments: 0...100)
  func width(width: Int) {
    let text = ProgressBar.text(
      title: "composing", fraction: 0.5, stage: "compose", elapsed: .seconds(4), width: width)
    #expect(text.count < max(width, 1))
    #expect(text.contains("50 %") == (width > 15), "\(text)")
    #expect(text.contains("[#") == (width > 42), "\(text)")
  }
}
