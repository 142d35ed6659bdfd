import Glibc
import Platform
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Where the server's files lie")
struct LayoutTests {
  private let stranger = ServerUser(user: 60_001, group: 60_001, isSwitched: true)

  @Test("In the data folder where the server's user can reach it, else under /var/lib/take5")
  func home() throws {
    let folder = try TemporaryFolder()
    #expect(Layout(dataFolder: folder.path, id: "x", user: stranger).home == "\(folder.path)/postgres")
    #expect(chmod(folder.path, 0o700) == 0)
    #expect(Layout(dataFolder: folder.path, id: "x", user: stranger).home == "/var/lib/take5/x")
  }

  @Test("A socket's path stays within what a socket address holds, and is plain")
  func socket() throws {
    let folder = try TemporaryFolder()
    for name in ["short", String(repeating: "x", count: 100), "a, b", "it's"] {
      let path = "\(folder.path)/\(name)"
      try Folder.make(path)
      let socket = Layout(dataFolder: path, id: "id", user: stranger).socketFolder
      #expect("\(socket)/.s.PGSQL.5432".utf8.count <= 107)
      #expect(!socket.contains(",") && !socket.contains("'") && !socket.contains(" "))
    }
  }

  @Test("A data folder keeps its name when it moves; a new one of that path has another")
  func identity() throws {
    let folder = try TemporaryFolder()
    let (here, there) = ("\(folder.path)/here", "\(folder.path)/there")
    try Folder.make(here)
    let id = try Layout.identify(here)
    #expect(try Layout.identify(here) == id)
    #expect(rename(here, there) == 0)
    #expect(try Layout.identify(there) == id)
    try Folder.make(here)
    #expect(try Layout.identify(here) != id)
  }
}
