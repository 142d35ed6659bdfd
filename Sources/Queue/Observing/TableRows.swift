/// The rows of a table, as the server's statistics estimate them.
package struct TableRows: Sendable, Hashable {
  package let table: String
  package let live: Int
  /// Not removed yet.
  package let dead: Int

  package init(table: String, live: Int, dead: Int) {
    self.table = table
    self.live = live
    self.dead = dead
  }
}
