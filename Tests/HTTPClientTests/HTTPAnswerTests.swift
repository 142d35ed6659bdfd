import HTTPClient
import Testing

@Suite("Answers")
struct HTTPAnswerTests {
  @Test("a body by its length, with headers in any case")
  func length() throws {
    let answer = try #require(
      HTTPAnswer(Array("HTTP/1.1 200 OK\r\nContent-LENGTH: 5\r\nETag: \"x\"\r\n\r\nhello".utf8)))
    #expect(answer.status == 200)
    #expect(answer.headers["etag"] == "\"x\"")
    #expect(answer.body == Array("hello".utf8))
  }

  @Test("a body in chunks")
  func chunks() throws {
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
    #expect(try #require(HTTPAnswer(Array(text.utf8))).body == Array("hello world".utf8))
  }

  @Test("an interim answer is passed over")
  func interim() throws {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    #expect(try #require(HTTPAnswer(Array(text.utf8))).status == 202)
  }

  @Test(
    "what is cut short is no answer",
    arguments: [
      "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "SSH-2.0-x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    ])
  func cut(text: String) {
    #expect(HTTPAnswer(Array(text.utf8))?.status == nil)
  }
}
