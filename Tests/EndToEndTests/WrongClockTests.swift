import HTTPTesting
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

/// A machine whose clock differs from the database's.
@Suite("Wrong clock", .tags(.process), .timeLimit(.minutes(60)))
struct WrongClockTests {
  /// Puts a function in the place of the server's clock, for all sessions that connect from now on.
  private static func setClock(_ database: DatabaseURL, ahead interval: String) async throws {
    let pool = Pool(database, size: 1)
    try await pool.run { session in
      try session.executeScript(
        """
        ALTER DATABASE \(database.database ?? "") SET search_path = public, pg_catalog;
        CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS $$ SELECT pg_catalog.clock_timestamp() + interval '\(interval)' $$
        """, name: "test")
    }
    await pool.close()
  }

  @Test("a service and a worker report that the clocks differ, and that they agree again")
  func reported() async throws {
    try await withDatabase { database in
      try await Self.setClock(database, ahead: "1 hour")
      let service = try await Service(workers: 0, ["--database", database.connectionString])
      let worker = try await service.worker(["--database", database.connectionString])
      let differ = "the clocks of this machine and of the database differ"
      for process in [service.process, worker] { #expect(await process.waitForLog(differ), "\(process.log)") }
      let metrics = try await service.api().get("/metrics").response.text
      let line = try #require(metrics.split(separator: "\n").first { $0.hasPrefix("take5_clock_offset_seconds ") })
      let offset = try #require(Double(line.split(separator: " ")[1]))
      #expect((-3605 ... -3590).contains(offset), "\(line)")
      try await Self.setClock(database, ahead: "0")
      for process in [service.process, worker] {
        #expect(await process.waitForLog("of the database agree again"), "\(process.log)")
      }
      await worker.send(signal: 15)
      #expect(await worker.wait() == 0)
      #expect(try await service.stop() == 0)
    }
  }
}
