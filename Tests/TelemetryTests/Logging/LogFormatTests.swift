import FoundationEssentials
import Telemetry
import Testing

@Suite("Log lines")
struct LogFormatTests {
  let time = Date(timeIntervalSince1970: 1_000_000_000.5)

  @Test("the text format is for people")
  func text() {
    let line = LogFormat.text.line(
      time: time, level: .warning, message: "an attempt failed", fields: [("job", "1"), ("error", "disk full")])
    #expect(line == "01:46:40.500 warning an attempt failed  job=1 error=\"disk full\"\n")
  }

  @Test("the JSON format is for programs")
  func json() {
    let line = LogFormat.json.line(time: time, level: .info, message: "a \"b\"", fields: [("path", "/v1\u{1}")])
    #expect(
      line
        == #"{"time":"2001-09-09T01:46:40.500Z","level":"info","message":"a \"b\"","path":"/v1\u0001"}"# + "\n")
  }

  @Test("values from outside cannot forge a line", arguments: LogFormat.allCases)
  func forging(format: LogFormat) {
    let line = format.line(time: time, level: .info, message: "x\ny", fields: [("author", "a\n12:00:00 error forged")])
    #expect(line.split(separator: "\n").count == 1)
  }

  @Test("lines below the lowest level and nil fields are omitted")
  func levels() {
    let lines = Lines()
    let log = Logger(format: .text, lowest: .warning) { lines.add($0) }
    log.info("unseen")
    log.with(["job": "7", "request": nil]).error("seen")
    #expect(lines.all.count == 1)
    #expect(lines.all[0].hasSuffix("error   seen  job=7\n"))
  }

  private final class Lines: @unchecked Sendable {
    private(set) var all: [String] = []
    func add(_ line: String) { all.append(line) }
  }
}
