import Blobs
import Crypto
import Model
import Postgres
import PostgresTesting
import Queue
import Rooms
import Store
import StoreTesting
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
      let fixture = StoreFixture(
        blobs: blobs, store: Store(blobs: blobs, rooms: .all), pool: Pool(owned, size: 2), url: owned)
      let steps = try await fixture.pool.run { session in
        #expect(try session.execute("SELECT current_setting('is_superuser')").single().get(0) == "off")
        let steps = try Migrator(.all).migrate(session)
        try session.transaction(JobHistory.addPartitions)
        return steps
      }
      #expect(steps == [Migration].all)

      let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
      let listener = try #require(try Listener(owned, channels: [QueueChannel.jobs]) { continuation.yield($0) })
      try listener.start()
      var received = reports.makeAsyncIterator()
      #expect(await received.next() == .connected)

      let id = try await fixture.submit()
      try await fixture.pool.run { try JobQueue.notify(queue: PostJob.queue, $0) }
      guard case .notification(let notification) = await received.next() else {
        Issue.record("no notification")
        return
      }
      #expect(JobCall(payload: notification.payload)?.queue == PostJob.queue)
      listener.stop()

      try await fixture.publish(try await fixture.claim())
      #expect(try await fixture.post(id).status == .ready)
      #expect(try await fixture.reap().isEmpty)
      await fixture.pool.close()
      try admin.executeScript("REASSIGN OWNED BY \(name) TO CURRENT_USER; DROP ROLE \(name)", name: "role")
    }
  }

  @Test("a role that may not create the extension for names is refused with what to do, and needs it once")
  func extensionRefused() async throws {
    try await withDatabase { url in
      let admin = try Session.connect(url, timeout: .seconds(5))
      let name = "guest_of_\(url.database ?? "")"
      try admin.executeScript(
        "CREATE ROLE \(name) LOGIN NOSUPERUSER; GRANT CREATE ON SCHEMA public TO \(name)", name: "role")
      let guest = try Session.connect(
        try DatabaseURL("\(url.connectionString) user='\(name)'"), timeout: .seconds(5))
      let error = #expect(throws: PostgresError.self) { try Migrator(.all).migrate(guest) }
      #expect(error?.message == "the role \(name) may not create the extension pg_trgm")
      #expect(error?.detail?.contains("Run CREATE EXTENSION pg_trgm in the database") == true)
      #expect(error?.isTransient == false)
      try admin.executeScript("CREATE EXTENSION pg_trgm", name: "extension")
      #expect(try Migrator(.all).migrate(guest) == [Migration].all)
      try admin.executeScript("DROP OWNED BY \(name); DROP ROLE \(name)", name: "role")
    }
  }

  @Test("the facts of a database show what its role may not do")
  func facts() async throws {
    try await withDatabase { url in
      let admin = try Session.connect(url, timeout: .seconds(5))
      let empty = try DatabaseFacts(admin)
      #expect(empty.applied.isEmpty && empty.pending(.all) == [Migration].all && empty.unknown(.all).isEmpty)
      #expect(empty.mayCreate && empty.isOwner && empty.closedTables.isEmpty && !empty.isReadOnly)
      #expect(empty.versionNumber >= DatabaseFacts.minVersionNumber)

      try Migrator(.all).migrate(admin)
      let name = "reader_of_\(url.database ?? "")"
      try admin.executeScript(
        """
        REVOKE CREATE ON SCHEMA public FROM PUBLIC;
        CREATE ROLE \(name) LOGIN NOSUPERUSER;
        GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(name);
        """, name: "role")
      let reader = try Session.connect(
        try DatabaseURL("\(url.connectionString) user='\(name)'"), timeout: .seconds(5))
      let facts = try DatabaseFacts(reader)
      #expect(facts.role == name && facts.pending(.all).isEmpty && facts.unknown(.all).isEmpty)
      #expect(!facts.mayCreate && !facts.isOwner)
      #expect(facts.closedTables.contains("post") && facts.closedTables.contains("job"))
      #expect(try DatabaseFacts(admin).closedTables.isEmpty)

      try admin.executeScript("SET default_transaction_read_only = on", name: "read-only")
      #expect(try DatabaseFacts(admin).isReadOnly)
      try admin.executeScript("SET default_transaction_read_only = off", name: "read-write")
      try admin.executeScript("DROP OWNED BY \(name); DROP ROLE \(name)", name: "role")
    }
  }
}
