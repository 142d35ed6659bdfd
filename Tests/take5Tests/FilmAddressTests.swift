import Platform
import Testing

@testable import take5

/// The address that a person points a phone at.
@Suite("Address of the page that films")
struct FilmAddressTests {
  @Test("the address is the service's, and for one on all addresses one of this machine")
  func address() throws {
    func url(_ text: String) throws -> String {
      FilmAddress.url(of: try #require(ListenAddress(text)), port: 8081)
    }
    #expect(try url("192.0.2.1:0") == "http://192.0.2.1:8081/film")
    #expect(try url("[2001:db8::1]:0") == "http://[2001:db8::1]:8081/film")
    #expect(try url(":0") == "http://127.0.0.1:8081/film")
    let own = IPAddress.ofThisMachine
    #expect(own?.isLoopback != true)
    for all in ["0.0.0.0:0", "[::]:0"] {
      let found = try url(all)
      #expect(own.map { "http://\($0):8081/film" } ?? found == found, "\(all)")
    }
  }

  @Test("the code is dark on light, has a light border, and the marks of its corners")
  func code() throws {
    let lines = try #require(QRCode("http://192.0.2.1:8080/film")).lines
    let (colours, reset) = ("\u{1B}[30;107m", "\u{1B}[0m")
    #expect(lines.allSatisfy { $0.hasPrefix(colours) && $0.hasSuffix(reset) })
    let cells = lines.map { Array($0.dropFirst(colours.count).dropLast(reset.count)) }
    // Two rows of modules for each line.
    var rows = cells.flatMap { line in [line.map { "█▀".contains($0) }, line.map { "█▄".contains($0) }] }
    let width = cells[0].count
    #expect(cells.allSatisfy { $0.count == width })
    rows.removeLast(rows.count - width)
    let border = 4
    let size = width - 2 * border
    // A symbol of version N has 17 + 4 N modules in a row.
    #expect((size - 17).isMultiple(of: 4) && size >= 21)
    for index in 0..<width {
      for edge in Array(0..<border) + Array(width - border..<width) {
        #expect(!rows[index][edge] && !rows[edge][index])
      }
    }
    let mark = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    for (top, left) in [(border, border), (border, width - border - 7), (width - border - 7, border)] {
      let found = (0..<7).map { row in (0..<7).map { rows[top + row][left + $0] ? "1" : "0" }.joined() }
      #expect(found == mark)
    }
  }

  @Test("a text that is too long for a code has none")
  func tooLong() { #expect(QRCode(String(repeating: "x", count: 5000)) == nil) }
}
