import Glibc
import Platform
import Testing

@Suite("Message sockets")
struct MessageSocketTests {
  @Test("a message arrives complete, with copies of its descriptors")
  func exchange() throws {
    let pair = try MessageSocket.pair()
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write(Array("content".utf8))
    try pair.near.send([1, 2, 3], descriptors: [file.number])
    let message = try #require(try pair.far.receive())
    #expect(message.bytes == [1, 2, 3])
    #expect(message.descriptors.count == 1)
    let copy = Descriptor(owning: message.descriptors[0])
    #expect(copy.number != file.number)
    #expect(try copy.contents() == Array("content".utf8))
  }

  @Test("a message has at most 160 KiB")
  func size() throws {
    let pair = try MessageSocket.pair()
    try pair.near.send([UInt8](repeating: 1, count: MessageSocket.maxBytes))
    let message = try #require(try pair.far.receive())
    #expect(message.bytes.count == MessageSocket.maxBytes)
    try pair.near.send([UInt8](repeating: 1, count: MessageSocket.maxBytes + 1))
    do {
      _ = try pair.far.receive()
      Issue.record("a longer message was received")
    } catch {
      #expect(error.code == EMSGSIZE)
    }
  }

  @Test("the end of the peer is the end of messages, not an error")
  func end() throws {
    let near = try MessageSocket.pair().keepNear()
    #expect(try near.waitReadable(milliseconds: -1))
    let message = try near.receive()
    #expect(message == nil)
  }

  @Test("a wait without a message times out")
  func nothing() throws {
    let pair = try MessageSocket.pair()
    #expect(try !pair.near.waitReadable(milliseconds: 0))
    #expect(pair.far.number >= 0)
  }
}
