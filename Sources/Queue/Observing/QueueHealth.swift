/// What a look at the database tells of the room that the queue's tables take.
package struct QueueHealth: Sendable, Hashable {
  package let holders: [HorizonHolder]
  package let tables: [TableRows]

  package init(holders: [HorizonHolder], tables: [TableRows]) {
    self.holders = holders
    self.tables = tables
  }
}
