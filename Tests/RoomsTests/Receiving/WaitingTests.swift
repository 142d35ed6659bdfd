import Crypto
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Waiting for a job", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WaitingTests {
  /// Completes the job of the only submission as a worker does, and sends a notification.
  static func end(_ api: RunningAPI, notifies: Bool = true) async throws {
    let store = api.store
    let worker = try await api.pool.run { try JobQueue.register(host: "test", process: 1, $0) }
    var ended: PublicID?
    // The head start of a look locks the job for a moment.
    try await until("a job that can be claimed") {
      ended = try await api.pool.transaction { session in
        guard let job = try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first else {
          return nil
        }
        let work = try #require(try store.work(for: job, session))
        try store.publish(
          [], of: work, recipe: SHA256.digest(of: []), job: job,
          verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
        return job.publicID
      }
      return ended != nil
    }
    let job = try #require(ended)
    if notifies { try await api.pool.run { try JobQueue.notifyChange(of: job, $0) } }
  }

  @Test(
    "polling finds the end of a job without a notification, with and without a listening connection",
    arguments: [true, false])
  func lostNotification(listens: Bool) async throws {
    var setting = RunningAPI.Setting()
    setting.listens = listens
    try await RunningAPI.with(setting) { api in
      let url = try #require(try await api.submit(.moment()).json["job"]["url"].text)
      async let waiting = api.get("\(url)?wait=60")
      try await Self.end(api, notifies: false)
      #expect(try await waiting.json["state"] == .string("completed"))
    }
  }

  @Test("a request that waits for a job returns when it has finished")
  func waitForJob() async throws {
    try await RunningAPI.with { api in
      let post = try await api.submit(.moment()).json
      let url = try #require(post["job"]["url"].text)
      #expect(try await api.get("\(url)?wait=0").json["state"] == .string("available"))
      async let waiting = api.get("\(url)?wait=60")
      try await Self.end(api)
      #expect(try await waiting.json["state"] == .string("completed"))
      #expect(try await api.get("\(url)?wait=60").json["state"] == .string("completed"))
      // A client that asks for more than it gets waits for less.
      #expect(try await api.get("\(url)?wait=86400").status == 200)
      #expect(try await api.get("\(url)?wait=86401").status == 400)
      #expect(try await api.get("/v1/jobs/\(PublicID.now())?wait=60").status == 404)
    }
  }

  @Test("progress is rounded to thousandths, although the database stores single precision")
  func progress() async throws {
    try await RunningAPI.with { api in
      let post = try await api.submit(.moment())
      try await api.pool.run { session in
        try session.executeScript(
          "INSERT INTO job_progress (job_id, token, fraction, stage) SELECT id, 1, 0.01, 'probe' FROM job", name: "test"
        )
      }
      let job = try await api.get(try #require(post.json["job"]["url"].text))
      for response in [job, try await api.get(try #require(post.headers["location"])), try await api.get("/v1/jobs")] {
        #expect(String(decoding: response.body, as: UTF8.self).contains(#""progress":0.01,"#))
      }
    }
  }

  @Test(
    "progress is between 0 and 1 for every value in the database",
    arguments: ["1e30", "-1e30", "NaN", "Infinity", "1e-40"])
  func oddProgress(fraction: String) async throws {
    try await RunningAPI.with { api in
      let url = try #require(try await api.submit(.moment()).json["job"]["url"].text)
      try await api.pool.run { session in
        try session.executeScript(
          "INSERT INTO job_progress (job_id, token, fraction, stage) SELECT id, 1, '\(fraction)', 'compose' FROM job",
          name: "test")
      }
      guard case .number(let progress) = try await api.get(url).json["progress"] else {
        Issue.record("the response has no progress")
        return
      }
      #expect((0...1).contains(progress))
      let port = api.port
      let event = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send("GET \(url)/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try connection.receiveHead()
        return String(decoding: try connection.receiveChunk() ?? [], as: UTF8.self)
      }
      #expect(event.contains("event: progress\n"))
    }
  }

  @Test("a submission that prefers to wait gets the ready post, or 202 after its timeout")
  func preferWait() async throws {
    try await RunningAPI.with { api in
      let timedOut = try await api.submit(.moment(), headers: [("Prefer", "respond-async, wait=1")])
      #expect(timedOut.status == 202)
      #expect(timedOut.json["status"] == .string("processing"))
      try await Self.end(api)
      async let waiting = api.submit(.moment(post: #"{"author":"bob"}"#), headers: [("Prefer", "wait=60")])
      try await Self.end(api)
      let response = try await waiting
      #expect(response.status == 200)
      #expect(response.headers["preference-applied"] == "wait=50")
      #expect(response.json["status"] == .string("ready"))
      #expect(response.json["job"]["state"] == .string("completed"))
    }
  }

  @Test(
    "a post and an image are read once they are processed, by the parameter or by the preference",
    arguments: [("?wait=50", nil), ("", "wait=50")])
  func waitForSubject(query: String, preference: String?) async throws {
    let headers = preference.map { [("Prefer", $0)] } ?? []
    try await RunningAPI.with { api in
      let post = try #require(try await api.submit(.moment()).headers["location"])
      async let waiting = api.get(post + query, headers: headers)
      try await until { api.submissions.waits.count == 1 }
      try await Self.end(api)
      #expect(try await waiting.json["status"] == .string("ready"))
      let submitted = try await request(
        "PUT", "/v1/users/ada/profile-image", port: api.port, headers: [("Content-Type", "image/jpeg")],
        body: PhotoSubmissionTests.jpeg)
      let image = try #require(submitted.headers["location"])
      async let waitingForImage = api.get(image + query, headers: headers)
      try await until { api.submissions.waits.count == 1 }
      try await Self.end(api)
      #expect(try await waitingForImage.json["status"] == .string("ready"))
      // Nothing to wait for.
      for path in [post, image] { #expect(try await api.get(path + query, headers: headers).status == 200) }
      let unknown = try await api.get("/v1/posts/\(PublicID.now())\(query)", headers: headers)
      #expect(unknown.status == 404)
    }
  }

  @Test("a repeated submission that prefers to wait gets the ready post or image instead of the first response")
  func preferWaitAgain() async throws {
    try await RunningAPI.with { api in
      let moment = MultipartForm.moment()
      for (method, path, type, body) in [
        ("POST", "/v1/posts", moment.contentType, moment.bytes),
        ("PUT", "/v1/users/ada/profile-image", "image/jpeg", PhotoSubmissionTests.jpeg),
      ] {
        let headers = [("Content-Type", type), ("Idempotency-Key", "\"\(path)\"")]
        let first = try await request(method, path, port: api.port, headers: headers, body: body)
        #expect(first.status == 202, "\(path)")
        try await Self.end(api)
        let again = try await request(
          method, path, port: api.port, headers: headers + [("Prefer", "wait=60")], body: body)
        #expect(again.status == 200, "\(path)")
        #expect(again.headers["idempotency-replayed"] == "true")
        #expect(again.headers["preference-applied"] == "wait=50")
        #expect(again.headers["location"] == first.headers["location"])
        #expect(again.json["id"] == first.json["id"])
        #expect(again.json["status"] == .string("ready"))
        #expect(again.json["job"]["state"] == .string("completed"))
      }
    }
  }

  @Test("the path of a post or an image names it, and other paths do not")
  func subjectPaths() {
    let (id, other) = (PublicID.now(), PublicID.now())
    for subject in [Subject.post(id), .image(id)] { #expect(Subject(path: subject.path) == subject) }
    for path in ["", "/", "/v1/posts", "/v1/posts/x", "/v1/posts/\(other)/comments/\(id)", "/v1/jobs/\(id)"] {
      #expect(Subject(path: path) == nil, "\(path)")
    }
  }

  @Test(
    "the preference wait is parsed as in RFC 7240",
    arguments: [
      ("wait=5", 5), ("respond-async, wait=5", 5), ("Wait=90", 50), ("wait", nil), ("wait=x", nil), ("wait=0", nil),
      ("handling=lenient", nil),
    ])
  func preference(field: String, seconds: Int?) {
    #expect(Wait(preferredBy: ["Prefer": field])?.seconds == seconds)
  }

  @Test("metrics contain the submissions and the state of the queue")
  func metrics() async throws {
    try await RunningAPI.with { api in
      _ = try await api.submit(.moment())
      let response = try await api.get("/metrics")
      let text = String(decoding: response.body, as: UTF8.self)
      #expect(text.contains("take5_queue_jobs{kind=\"post\",queue=\"media\",state=\"available\"} 1\n"))
      #expect(text.contains("take5_queue_oldest_age_seconds{kind=\"post\",queue=\"media\",state=\"available\"} "))
      #expect(text.contains("take5_workers{state=\"alive\"} 0\n") && text.contains("take5_database_up 1\n"))
      #expect(text.contains("take5_xmin_age_seconds{holder=\"session\"} ") && text.contains("take5_table_dead_rows{"))
      #expect(text.contains("take5_submissions_total{kind=\"take5\"} 1\n"))
    }
  }
}
