import HTTPTesting
import Model
import Postgres
import Store
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// What a reader gets of a database that lacks what it had committed: a standby that was promoted, or a backup that was restored.
@Suite("Histories of the database", .tags(.database, .network), .timeLimit(.minutes(60)))
struct EventHistoryTests {
  /// Takes away the events after a position, as a standby lacks them that has not received them; here all are of one user.
  private static func lose(after number: Int, _ api: RunningAPI) async throws {
    try await api.pool.run { session in
      try session.executeScript(
        """
        DELETE FROM user_event WHERE number > \(number);
        ALTER TABLE user_event_count DISABLE TRIGGER number_event;
        UPDATE user_event_count SET last = \(number);
        ALTER TABLE user_event_count ENABLE TRIGGER number_event;
        UPDATE event_position SET last = \(number);
        UPDATE event_history SET server = 'another 00000002', started = '-infinity';
        """, name: "test")
    }
  }

  private static func comment(_ count: Int, on post: PublicID, _ api: RunningAPI) async throws {
    for _ in 0..<count { try await api.comment(on: post, by: "bob") }
    _ = try await Events.dispatch(api.pool)
  }

  /// The comments in their order; each is an event.
  private static func comments(_ api: RunningAPI) async throws -> [String] {
    try await api.pool.run { session in
      try session.execute("SELECT public_id::text AS comment FROM comment ORDER BY comment.id").map {
        try $0.get("comment")
      }
    }
  }

  private static func historyAfter(_ api: RunningAPI) async throws -> Int64 {
    try await api.pool.run { try $0.execute("SELECT after FROM event_history").single().get(0) }
  }

  @Test(
    "a reader gets reset, and then exactly what it lacks, whatever it has seen", arguments: ["ada", nil] as [String?])
  func lost(user: String?) async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      try await Self.comment(5, on: post, api)
      #expect(try await api.events(1, of: user, after: "4-0").map(\.id) == ["5-0"])
      try await Self.lose(after: 3, api)
      // Before anything is numbered again, and once more before the next event.
      let first = try await api.events(1, of: user, after: "5-0")
      let after = try await Self.historyAfter(api)
      #expect(after > 5 && first.map(\.name) == ["reset"] && first.map(\.id) == ["\(after)-0"])
      try await Self.comment(2, on: post, api)
      let comments = try await Self.comments(api)
      let (common, fresh) = (Array(comments[..<3]), Array(comments[5...]))
      for (id, lacks) in [
        ("5-0", fresh), ("4-0", fresh), ("3-0", fresh), ("2-0", Array(common[2...]) + fresh), ("0-0", common + fresh),
      ] as [(String, [String])] {
        let events = try await api.events(1 + lacks.count, of: user, after: id)
        #expect(events.map(\.name) == ["reset"] + lacks.map { _ in "comment" }, "\(id)")
        #expect(events.compactMap { $0.data["comment"].text } == lacks, "\(id)")
        #expect(events.last?.id == "\(after + 2)-0", "\(id)")
      }
      // Who has had the reset gets no other one.
      let going = try await api.events(2, of: user, after: first[0].id)
      #expect(going.map(\.name) == ["comment", "comment"] && going.map(\.id) == ["\(after + 1)-0", "\(after + 2)-0"])
    }
  }

  @Test("numbers are above lost ones, also where an event comes before one of several readers at once")
  func writers() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      try await Self.comment(5, on: post, api)
      try await Self.lose(after: 3, api)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<6 { group.addTask { try await api.comment(on: post, by: "bob") } }
        try await group.waitForAll()
      }
      let numbers: [Int64] = try await api.pool.run { session in
        try session.execute("SELECT number FROM user_event WHERE user_id = 'ada' ORDER BY number").map {
          try $0.get("number")
        }
      }
      let after = try await Self.historyAfter(api)
      #expect(numbers == [1, 2, 3] + (1...6).map { after + $0 })
      _ = try await Events.dispatch(api.pool)
      let events = try await api.events(7, of: nil, after: "5-0")
      #expect(events.map(\.id) == ["\(after)-0"] + (Int64(1)...6).map { "\(after + $0)-0" })
    }
  }

  @Test("an open stream goes on: reset, and then what is new")
  func open() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      try await Self.comment(5, on: post, api)
      async let live = api.events(2, of: "ada", after: "5-0")
      try await until { api.changes.streams.count == 1 }
      try await Self.lose(after: 3, api)
      try await Self.comment(1, on: post, api)
      let events = try await live
      let after = try await Self.historyAfter(api)
      #expect(events.map(\.name) == ["reset", "comment"])
      #expect(events.map(\.id) == ["\(after)-0", "\(after + 1)-0"])
    }
  }

  /// What may have happened to the database, and whether it has another history then.
  private static let changes: [(name: String, assignments: String, isOther: Bool)] = [
    ("the server was started again", "started = '-infinity'", false),
    ("a standby was promoted", "server = regexp_replace(server, '.$', 'F'), started = '-infinity'", true),
    ("another cluster has a restored dump", "server = '1 00000001', started = '-infinity'", true),
    ("a dump was restored in place", "relation = 1", true),
    ("an operator says so", "server = NULL, started = NULL", true),
  ]

  @Test("ids stay valid unless the history is another one")
  func changed() async throws {
    for change in Self.changes { try await Self.check(change) }
  }

  private static func check(_ change: (name: String, assignments: String, isOther: Bool)) async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      try await Self.comment(3, on: post, api)
      #expect(try await Self.historyAfter(api) == 0)
      try await api.pool.run { session in
        try session.executeScript("UPDATE event_history SET \(change.assignments)", name: "test")
      }
      for user in ["ada", nil] {
        let events = try await api.events(1, of: user, after: "2-0")
        #expect(events.map(\.name) == [change.isOther ? "reset" : "comment"], "\(change.name)")
      }
      let after = try await Self.historyAfter(api)
      #expect((after > 0) == change.isOther, "\(change.name)")
      // It is the present one, which does not begin again.
      #expect(try await api.events(1, of: "kim").map(\.id) == ["\(after)-0"], "\(change.name)")
      let present: Int64 = try await api.pool.run { try $0.execute("SELECT history_after()").single().get(0) }
      #expect(present == after, "\(change.name)")
    }
  }

  @Test("a window with the number of one that was lost is new to who knows that one")
  func windows() async throws {
    try await RunningAPI.with { api in
      for _ in 0..<2 { try await api.openWindow() }
      #expect(try await api.events(1, of: "ada", after: "0-2").map(\.id) == ["0-4"])
      try await api.pool.run { session in
        try session.executeScript(
          """
          DELETE FROM daily_window WHERE id = 2;
          ALTER TABLE daily_window ALTER COLUMN id RESTART WITH 2;
          """, name: "test")
      }
      try await Self.lose(after: 0, api)
      #expect(try await api.events(1, of: "ada", after: "0-4").map(\.name) == ["reset"])
      try await api.openWindow()
      let events = try await api.events(2, of: "ada", after: "0-4")
      #expect(events.map(\.name) == ["reset", "window_opened"])
      let after = try await Self.historyAfter(api)
      #expect(events.map(\.id) == ["\(after)-2", "\(after)-4"])
    }
  }

  @Test("If-Match names no version that was lost")
  func versions() async throws {
    try await RunningAPI.with { api in
      func put(_ name: String, ifMatch: String? = nil) async throws -> ClientResponse {
        try await request(
          "PUT", "/v1/users/ada", port: api.port,
          headers: [("Content-Type", "application/json")] + (ifMatch.map { [("If-Match", $0)] } ?? []),
          body: Array(#"{"name":"\#(name)"}"#.utf8))
      }
      _ = try await put("First")
      let lost = try #require(try await put("Second").headers["etag"])
      try await api.pool.run { session in
        _ = try session.execute("UPDATE app_user SET revision = revision - 1, name = 'First' WHERE id = 'ada'")
      }
      try await Self.lose(after: 0, api)
      let present = try #require(try await put("Third").headers["etag"])
      #expect(try await put("Fourth", ifMatch: lost).status == 412)
      #expect(try await put("Fourth", ifMatch: present).status == 200)
    }
  }

  @Test("the copy of a database continues its history, unless another one is to begin")
  func copies() async throws {
    for isSame in [true, false] {
      try await StoreFixture.with { former in
        let another = "UPDATE event_history SET server = 'another', started = '-infinity'"
        if !isSame { try await former.pool.run { try $0.executeScript(another, name: "test") } }
        let url = former.url
        try await StoreFixture.with { copy in
          let after = try await copy.pool.run { session -> Int64 in
            try session.executeScript(another, name: "test")
            try Events.continueHistory(of: try Session.connect(url, timeout: .seconds(20)), in: session)
            return try session.execute("SELECT history_after()").single().get(0, as: Int64.self)
          }
          #expect((after == 0) == isSame)
        }
      }
    }
  }

  @Test("after a start of the server, who numbers something waits for no transaction that has done so before")
  func startedAgain() async throws {
    try await StoreFixture.with { fixture in
      let url = fixture.url
      let last = try await fixture.pool.run { session -> Int64 in
        try session.executeScript("UPDATE event_history SET started = '-infinity'", name: "test")
        let other = try Session.connect(url, timeout: .seconds(20))
        try other.executeScript("SET lock_timeout = '20s'", name: "test")
        return try session.transaction { session -> Int64 in
          try session.execute("INSERT INTO user_event_count (user_id, last) VALUES ('ada', 1)")
          return try other.execute("INSERT INTO user_event_count (user_id, last) VALUES ('bob', 1) RETURNING last")
            .single().get(0, as: Int64.self)
        }
      }
      #expect(last == 1)
    }
  }

  @Test("a service and a worker compare the history before anything is numbered")
  func compared() async throws {
    let isPresent: Statement = "SELECT started = pg_postmaster_start_time() FROM event_history"
    let start: Statement = "UPDATE event_history SET started = '-infinity'"
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in _ = try session.execute(start) }
      _ = try await Events.dispatch(fixture.pool)
      let isCompared = try await fixture.pool.run { try $0.execute(isPresent).single().get(0, as: Bool.self) }
      #expect(isCompared)
    }
    try await RunningAPI.with { api in
      try await api.pool.run { session in
        try session.execute(start)
        _ = try session.execute(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE 'LISTEN%'
          """)
      }
      try await until("the history is not compared") {
        try await api.pool.run { try $0.execute(isPresent).single().get(0, as: Bool.self) }
      }
    }
  }

  @Test("a number costs the same while a backup keeps the versions of the row of the positions")
  func backup() async throws {
    try await StoreFixture.with { fixture in
      let url = fixture.url
      let pages = try await fixture.pool.run { session -> Int in
        let backup = try Session.connect(url, timeout: .seconds(20))
        return try backup.snapshot { backup -> Int in
          try backup.execute("SELECT last FROM event_position")
          try session.executeScript(
            """
            DO $$ BEGIN FOR number IN 1..20000 LOOP UPDATE event_position SET last = last + 1; END LOOP; END $$
            """, name: "test")
          // The first one reads the catalogs, too.
          _ = try StatementPlan(of: "SELECT history_after()", [], session)
          return try StatementPlan(of: "SELECT history_after()", [], session).pages
        }
      }
      #expect(pages < 50)
    }
  }

  @Test("a server that hides its identifier has another history with each start; an error that passes begins none")
  func hidden() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript("SET search_path = public, pg_catalog", name: "test")
        for (error, isHidden) in [
          ("insufficient_privilege", true), ("undefined_function", true), ("feature_not_supported", true),
          ("out_of_memory", false), ("internal_error", false),
        ] {
          try session.executeScript(
            """
            CREATE OR REPLACE FUNCTION public.pg_control_system() RETURNS TABLE (system_identifier bigint) LANGUAGE plpgsql AS
            $$ BEGIN RAISE \(error); END $$
            """, name: "test")
          func history() throws -> String { try session.execute("SELECT server_history()").single().get(0) }
          if isHidden {
            #expect(try history().hasPrefix("started "), "\(error)")
          } else {
            #expect(throws: PostgresError.self, "\(error)") { _ = try history() }
          }
        }
      }
    }
  }
}
