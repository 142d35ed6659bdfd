/// Bytes that two parsers could interpret differently, or that are not HTTP, with the status of the response.
package struct FramingCase: Sendable, CustomStringConvertible {
  package let description: String
  package let bytes: [UInt8]
  /// The status of the only response.
  package let status: Int

  private init(_ description: String, _ text: String, _ status: Int = 400) {
    self.description = description
    bytes = Array(text.utf8)
    self.status = status
  }

  /// Creates a case of a POST with header fields and the body `hello`.
  private init(head: String, _ status: Int = 400) {
    self.init(head, "POST /count HTTP/1.1\r\n\(head)\r\n\r\nhello", status)
  }

  /// Creates a case of a chunked body.
  private init(chunks: String, of description: String) {
    self.init(description, "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
  }

  package static let all: [FramingCase] = [
    // The length of the body.
    FramingCase(head: "Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5"),
    FramingCase(head: "Host: x\r\nContent-Length: 5\r\nContent-Length: 5"),
    FramingCase(head: "Host: x\r\nContent-Length: 0\r\nContent-Length: 5"),
    FramingCase(head: "Host: x\r\nContent-Length: 5, 5"),
    FramingCase(head: "Host: x\r\nContent-Length: 11, 11"),
    FramingCase(head: "Host: x\r\nContent-Length: +5"),
    FramingCase(head: "Host: x\r\nContent-Length: -1"),
    FramingCase(head: "Host: x\r\nContent-Length: 0x5"),
    FramingCase(head: "Host: x\r\nContent-Length: 5 5"),
    FramingCase(head: "Host: x\r\nContent-Length:"),
    FramingCase(head: "Host: x\r\nContent-Length: 99999999999999999999"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: gzip, chunked"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: chunked, identity"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: identity"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: \u{B}chunked"),
    FramingCase(head: "Host: x\r\nTransfer-Encoding: xchunked"),
    FramingCase("chunks in HTTP/1.0", "POST /count HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),

    // Lines and names.
    FramingCase(head: "Host: x\r\nTransfer-Encoding:\r\n chunked"),
    FramingCase(head: "Host: x\r\nX: a\r\n\tContent-Length: 5"),
    FramingCase("a blank before the first field", "GET /hello HTTP/1.1\r\n Host: x\r\n\r\n"),
    FramingCase(head: "Host: x\r\nContent-Length : 5"),
    FramingCase(head: "Host: x\r\nX Y: 5\r\nContent-Length: 5"),
    FramingCase(head: "Host: x\r\n: 5"),
    FramingCase(head: "Host: x\r\nno colon"),
    FramingCase(head: "Host: x\r\nX\u{E9}: 5"),
    FramingCase(head: "Host: x\r\nX: a\rContent-Length: 5"),
    FramingCase("a head with bare LF", "GET /hello HTTP/1.1\nHost: x\n\n"),
    FramingCase("one line with bare LF", "GET /hello HTTP/1.1\r\nHost: x\nX: y\r\n\r\n"),
    FramingCase("a head that ends with LF LF", "GET /hello HTTP/1.1\r\nHost: x\r\n\n"),

    // NUL, which terminates strings in C.
    FramingCase("a NUL in the target", "GET /hello\0 HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("a NUL in the method", "GE\0T /hello HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase(head: "Host: x\0y\r\nContent-Length: 5"),
    FramingCase(head: "Host: x\r\nContent-Length: 14\0 5"),
    FramingCase(head: "Host: x\r\nX\0: y\r\nContent-Length: 5"),

    // Host.
    FramingCase("no Host", "GET /hello HTTP/1.1\r\n\r\n"),
    FramingCase("two Hosts", "GET /hello HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
    FramingCase("a Host with user information", "GET /hello HTTP/1.1\r\nHost: a@b\r\n\r\n"),
    FramingCase("a Host with a path", "GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    FramingCase("an authority with user information", "GET http://a@b/hello HTTP/1.1\r\nHost: x\r\n\r\n"),

    // The request line.
    FramingCase("a method that is not a token", "G(T /hello HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("no method", " /hello HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("two blanks", "GET  /hello HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("a tab", "GET\t/hello HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("a blank in the target", "GET /hello x HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("a target beyond ASCII", "GET /h\u{E9}llo HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("no version", "GET /hello\r\n\r\n"),
    FramingCase("no number in the version", "GET /hello HTTP/x.1\r\nHost: x\r\n\r\n"),
    FramingCase("version 1.10", "GET /hello HTTP/1.10\r\nHost: x\r\n\r\n"),
    FramingCase("version 1.2", "GET /hello HTTP/1.2\r\nHost: x\r\n\r\n"),
    FramingCase("version 3.0", "GET /hello HTTP/3.0\r\nHost: x\r\n\r\n", 505),
    FramingCase("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    FramingCase("a target of CONNECT", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    FramingCase("TLS", "\u{16}\u{3}\u{1}\0\u{1}\0", 400),
    FramingCase("an unknown expectation", "GET /hello HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n", 417),
    FramingCase(
      "an unknown expectation behind a known one",
      "GET /hello HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nExpect: x\r\n\r\n", 417),

    // Chunks.
    FramingCase(chunks: "5\nhello\r\n0\r\n\r\n", of: "bare LF after a chunk's size"),
    FramingCase(chunks: "5\r\nhello\n0\r\n\r\n", of: "bare LF after a chunk"),
    FramingCase(chunks: "5\r\nhello0\r\n\r\n", of: "no line break after a chunk"),
    FramingCase(chunks: "5\r\nhelloxx0\r\n\r\n", of: "other bytes after a chunk"),
    FramingCase(chunks: "\r\n0\r\n\r\n", of: "no size"),
    FramingCase(chunks: "+5\r\nhello\r\n0\r\n\r\n", of: "a size with a sign"),
    FramingCase(chunks: "0x5\r\nhello\r\n0\r\n\r\n", of: "a size with a prefix"),
    FramingCase(chunks: " 5\r\nhello\r\n0\r\n\r\n", of: "a blank before the size"),
    FramingCase(chunks: "5 \r\nhello\r\n0\r\n\r\n", of: "a blank after the size"),
    FramingCase(chunks: "10000000000000005\r\nhello\r\n0\r\n\r\n", of: "a size that overflows"),
    FramingCase(chunks: "5;\u{1}\r\nhello\r\n0\r\n\r\n", of: "a control character in an extension"),
    FramingCase(chunks: "5;a=\nb\r\nhello\r\n0\r\n\r\n", of: "bare LF in an extension"),
    FramingCase(
      chunks: "5;\(String(repeating: "a", count: 40_000))\r\nhello\r\n0\r\n\r\n", of: "an extension of 40 KB"),
    FramingCase(chunks: "0\r\nX : y\r\n\r\n", of: "a blank in a trailer's name"),
    FramingCase(chunks: "0\r\nX: y\n\r\n", of: "bare LF after a trailer"),
    FramingCase(
      chunks: "0\r\n" + String(repeating: "X: y\r\n", count: 4000) + "\r\n", of: "trailers over the limit"),
  ]
}
