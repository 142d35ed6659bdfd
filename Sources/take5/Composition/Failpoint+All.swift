import Blobs
import Integrity
import MediaProcess
import Platform
import Postgres
import Queue
import Store

extension Failpoint {
  /// Everything that can be interrupted in this program.
  static var all: [Failpoint] {
    connections + JobQueue.failpoints + Store.failpoints + Integrity.failpoints + blobs + mediaProcesses
  }
}
