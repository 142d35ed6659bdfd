import Glibc
import Platform
import Testing

@Suite("Descriptors")
struct DescriptorTests {
  @Test("an unnamed file can be linked at a free path only")
  func linking() throws {
    let path = "/tmp/take5-link-\(getpid())"
    defer { unlink(path) }
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write(Array("content".utf8))
    #expect(access(path, F_OK) == -1)
    try file.link(at: path)
    #expect(try Descriptor(reading: path).contents() == Array("content".utf8))
    let second = try Descriptor(unnamedIn: "/tmp")
    #expect(throws: SystemError(call: "linkat", code: EEXIST, subject: path)) { try second.link(at: path) }
  }

  @Test("reading stops at the end of the file")
  func reading() throws {
    let file = try Descriptor(unnamedIn: "/tmp")
    try file.write(Array("0123456789".utf8))
    #expect(try file.bytes(count: 4, at: 3) == Array("3456".utf8))
    #expect(try file.bytes(count: 100, at: 8) == Array("89".utf8))
    #expect(try file.bytes(count: 5, at: 50).isEmpty)
  }
}
