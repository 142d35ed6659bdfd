import Glibc
import Platform
import PostgresTesting
import Testing

@testable import EmbeddedPostgres

@Suite("Layout")
struct LayoutTests {
  private let otherUser = ServerUser(user: 60_001, group: 60_001, isSwitched: true)

  @Test("the cluster is in the data folder if the server's user can access it, otherwise under /var/lib/take5")
  func home() throws {
    let folder = try TemporaryFolder()
    #expect(Layout(dataFolder: folder.path, id: "x", user: otherUser).home == "\(folder.path)/postgres")
    #expect(chmod(folder.path, 0o700) == 0)
    #expect(Layout(dataFolder: folder.path, id: "x", user: otherUser).home == "/var/lib/take5/x")
  }

  @Test("the path of the socket fits a socket address and has no special characters")
  func socket() throws {
    let folder = try TemporaryFolder()
    for name in ["short", String(repeating: "x", count: 100), "a, b", "it's"] {
      let path = "\(folder.path)/\(name)"
      try Folder.make(path)
      let socket = Layout(dataFolder: path, id: "id", user: otherUser).socketFolder
      #expect("\(socket)/.s.PGSQL.5432".utf8.count <= 107)
      #expect(!socket.contains(",") && !socket.contains("'") && !socket.contains(" "))
    }
  }

  @Test("a data folder keeps its id when it moves, and a new folder at its path has another")
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
