import Blobs
import Crypto
import Model
import Postgres
import PostgresTesting
import Queue
import Store
import Testing

@Suite("A database role without superuser rights", .tags(.database))
struct OrdinaryRoleTests {
  @Test("the owner of a database without other rights can migrate, submit, publish and receive notifications")
  func databaseOwner() async throws {
    try await withDatabase { url in
      let admin = try Session.connect(url, timeout: .seconds(5))
      let name = "owner_of_\(url.database ?? "")"
      try admin.executeScript("CREATE ROLE \(name) LOGIN NOSUPERUSER", name: "role")
      try admin.executeScript("ALTER DATABASE \(url.database ?? "") OWNER TO \(name)", name: "owner")
      let owned = try DatabaseURL("\(url.connectionString) user='\(name)'")

      let folder = try TemporaryFolder()
      let blobs = try FolderBlobStore(folder: "\(folder.path)/blobs")
      let fixture = StoreFixture(blobs: blobs, store: Store(blobs: blobs), pool: Pool(owned, size: 2), url: owned)
      let steps = try await fixture.pool.run { session in
        #expect(try session.execute("SELECT current_setting('is_superuser')").single().get(0) == "off")
        let steps = try Migrator(StoreMigrations.all).migrate(session)
        try JobQueue.prepareHistory(session)
        return steps
      }
      #expect(steps == StoreMigrations.all)

      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(owned, channels: [QueueChannel.jobs]) { continuation.yield($0) })
      try listener.start()
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)

      let id = try await fixture.submit()
      try await fixture.pool.run { try JobQueue.notify(queue: PostJob.queue, $0) }
      #expect(
        await received.next() == .notification(Notification(channel: QueueChannel.jobs, payload: PostJob.queue)))
      listener.stop()

      try await fixture.publish(try await fixture.claim())
      #expect(try await fixture.post(id).status == .ready)
      #expect(try await fixture.reap().isEmpty)
      await fixture.pool.close()
      try admin.executeScript("REASSIGN OWNED BY \(name) TO CURRENT_USER; DROP ROLE \(name)", name: "role")
    }
  }
}
