import HTTPClient
import Model
import Testing

@testable import take5

@Suite("Deliveries")
struct DeliveryTests {
  private static let front = PublicID(high: 1, low: 1)
  private static let back = PublicID(high: 1, low: 2)
  private static let ids = [front, back]
  private static let cut = HTTPClientError(.lost, "cut", "lost: cut")

  private static func response(
    _ status: Int, _ headers: [String: String] = [:], problem: String? = nil
  ) -> RequestOutcome {
    let body = problem.map { #"{"type":"urn:take5:problem:\#($0)","title":"A title","detail":"The detail"}"# }
    return .success(HTTPResponse(status: status, headers: headers, body: Array((body ?? "").utf8)))
  }

  private static func created(_ id: PublicID) -> RequestOutcome {
    response(201, ["location": "https://elsewhere.example/v1/uploads/\(id)", "upload-offset": "0"])
  }

  private static func offset(_ offset: Int, isWhole: Bool = false) -> RequestOutcome {
    response(204, ["upload-offset": "\(offset)", "upload-complete": isWhole ? "?1" : "?0"])
  }

  private static let notReady = response(409, problem: "upload_not_ready")

  /// Hands outcomes to a delivery, and expects the request before each.
  private static func run(
    _ delivery: inout Delivery, _ exchange: [(step: Delivery.Step, outcome: RequestOutcome)]
  ) throws {
    for (step, outcome) in exchange {
      try #require(delivery.next == step)
      _ = try delivery.receive(outcome, of: step)
    }
  }

  /// A delivery of two files of ten bytes whose uploads are created.
  private static func created() throws -> Delivery {
    var delivery = Delivery(lengths: [10, 10])
    try run(&delivery, [(.create(0), created(front)), (.create(1), created(back))])
    return delivery
  }

  @Test("the submission comes before the bytes, and is sent again after them if the service wants that")
  func order() throws {
    let bytes: [(Delivery.Step, RequestOutcome)] = [
      (.append(0, Self.front, offset: 0), Self.offset(10, isWhole: true)),
      (.append(1, Self.back, offset: 0), Self.offset(10, isWhole: true)),
    ]
    var delivery = try Self.created()
    try Self.run(&delivery, [(.submit(Self.ids), Self.response(202))] + bytes)
    #expect(delivery.next == nil && delivery.answer?.status == 202 && delivery.arrived == 20)
    delivery = try Self.created()
    try Self.run(
      &delivery, [(.submit(Self.ids), Self.notReady)] + bytes + [(.submit(Self.ids), Self.response(202))])
    #expect(delivery.next == nil && delivery.answer?.status == 202)
  }

  @Test("a submission without files is one request, and is repeated until it is answered")
  func text() throws {
    var delivery = Delivery(lengths: [])
    try Self.run(
      &delivery,
      [
        (.submit([]), .failure(Self.cut)), (.submit([]), Self.response(503)),
        (.submit([]), Self.response(409, problem: "idempotency_key_running")), (.submit([]), Self.response(201)),
      ])
    #expect(delivery.next == nil && delivery.answer?.status == 201)
  }

  @Test("a file of no bytes is whole when it is created")
  func empty() throws {
    var delivery = Delivery(lengths: [0])
    let whole = Self.response(
      201, ["location": "/v1/uploads/\(Self.front)", "upload-offset": "0", "upload-complete": "?1"])
    try Self.run(&delivery, [(.create(0), whole), (.submit([Self.front]), Self.response(202))])
    #expect(delivery.next == nil)
  }

  @Test(
    "after a failure that may pass the offset is read, and the bytes go on from there",
    arguments: [
      .failure(cut), response(503), response(500), response(507), response(408),
      response(429, problem: "too_many_requests"),
      response(409, problem: "mismatching-upload-offset"), response(400, problem: "completed-upload"),
    ] as [RequestOutcome])
  func resumes(outcome: RequestOutcome) throws {
    var delivery = try Self.created()
    try Self.run(&delivery, [(.submit(Self.ids), Self.notReady)])
    #expect(try delivery.receive(outcome, of: .append(0, Self.front, offset: 0)) != nil && !delivery.hasProgressed)
    try Self.run(&delivery, [(.locate(0, Self.front), outcome), (.locate(0, Self.front), Self.offset(7))])
    #expect(delivery.hasProgressed && delivery.arrived == 7)
    try Self.run(
      &delivery,
      [(.append(0, Self.front, offset: 7), outcome), (.locate(0, Self.front), Self.offset(7))])
    #expect(!delivery.hasProgressed)
    try Self.run(
      &delivery,
      [
        (.append(0, Self.front, offset: 7), outcome), (.locate(0, Self.front), Self.offset(10, isWhole: true)),
        (.append(0, Self.front, offset: 10), Self.offset(10, isWhole: true)),
        (.append(1, Self.back, offset: 0), Self.offset(10, isWhole: true)), (.submit(Self.ids), Self.response(200)),
      ])
    #expect(delivery.next == nil)
  }

  @Test("an upload that is complete after a lost response is whole only if sending nothing more succeeds")
  func complete() throws {
    for offset in [4, 10] {
      var delivery = try Self.created()
      try Self.run(
        &delivery,
        [
          (.submit(Self.ids), Self.response(202)), (.append(0, Self.front, offset: 0), .failure(Self.cut)),
          (.locate(0, Self.front), Self.offset(offset, isWhole: true)),
          (.append(0, Self.front, offset: Int64(offset)), Self.response(422, problem: "media_rejected")),
        ])
      #expect(delivery.next == nil && delivery.isRefused)
    }
    // A service that refuses even an empty part of a complete upload has it.
    var delivery = try Self.created()
    try Self.run(
      &delivery,
      [
        (.submit(Self.ids), Self.response(202)), (.append(0, Self.front, offset: 0), .failure(Self.cut)),
        (.locate(0, Self.front), Self.offset(10, isWhole: true)),
        (.append(0, Self.front, offset: 10), Self.response(400, problem: "completed-upload")),
        (.append(1, Self.back, offset: 0), Self.offset(10, isWhole: true)),
      ])
    #expect(delivery.next == nil)
  }

  @Test("an upload that is gone is created again, and the submission names the new one")
  func gone() throws {
    let other = PublicID(high: 1, low: 3)
    var delivery = try Self.created()
    try Self.run(
      &delivery,
      [
        (.submit(Self.ids), Self.notReady), (.append(0, Self.front, offset: 0), Self.response(404)),
        (.create(0), Self.created(other)), (.append(0, other, offset: 0), Self.offset(10, isWhole: true)),
        (.append(1, Self.back, offset: 0), Self.offset(10, isWhole: true)),
        (.submit([other, Self.back]), Self.response(202)),
      ])
    #expect(delivery.next == nil && !delivery.hasTaken)
  }

  @Test("a submission that names an upload which is gone makes the client look for all of them")
  func lost() throws {
    var delivery = try Self.created()
    try Self.run(
      &delivery,
      [
        (.submit(Self.ids), Self.response(404, problem: "upload_not_found")),
        (.locate(0, Self.front), Self.offset(0)), (.append(0, Self.front, offset: 0), Self.offset(10, isWhole: true)),
        (.locate(1, Self.back), Self.response(404)), (.create(1), Self.created(Self.back)),
        (.append(1, Self.back, offset: 0), Self.offset(10, isWhole: true)), (.submit(Self.ids), Self.response(202)),
      ])
    #expect(delivery.next == nil)
  }

  @Test("an upload that is gone after its submission is stored counts as taken, and is not created again")
  func taken() throws {
    var delivery = try Self.created()
    try Self.run(
      &delivery,
      [
        (.submit(Self.ids), Self.response(202)), (.append(0, Self.front, offset: 0), Self.offset(10, isWhole: true)),
        (.append(1, Self.back, offset: 0), .failure(Self.cut)), (.locate(1, Self.back), Self.response(404)),
      ])
    #expect(delivery.next == nil && delivery.hasTaken && delivery.arrived == 20)
  }

  @Test(
    "a file that is refused after its submission is stored ends the delivery: the post has the reasons",
    arguments: [(422, "media_rejected"), (400, "digest_mismatch")])
  func refusedAfterStored(status: Int, problem: String) throws {
    let refusal = Self.response(status, problem: problem)
    let step = Delivery.Step.append(0, Self.front, offset: 0)
    var delivery = try Self.created()
    try Self.run(&delivery, [(.submit(Self.ids), Self.response(202)), (step, refusal)])
    #expect(delivery.next == nil && delivery.isRefused)
    // Before that nothing is stored.
    delivery = try Self.created()
    try Self.run(&delivery, [(.submit(Self.ids), Self.notReady)])
    #expect(throws: CommandFailure.self) { try delivery.receive(refusal, of: step) }
    // A problem that the service does not write down ends the command.
    delivery = try Self.created()
    try Self.run(&delivery, [(.submit(Self.ids), Self.response(202))])
    #expect(throws: CommandFailure.self) { try delivery.receive(Self.response(422, problem: "other"), of: step) }
  }

  @Test(
    "a refusal for good ends the delivery at any request, with the text and the remedy of the service",
    arguments: [
      (400, "invalid_fields", .usage), (401, "unauthorized", .usage), (403, "not_granted", .usage),
      (413, "upload_too_large", .rejected), (422, "media_rejected", .rejected), (429, "quota_exceeded", .usage),
      (501, "other", .internal),
    ] as [(Int, String, take5.ExitStatus)])
  func refused(status: Int, problem: String, exit: take5.ExitStatus) throws {
    let body = #"{"type":"urn:take5:problem:\#(problem)","title":"T","detail":"D.","remedy":"Do that."}"#
    let refusal = RequestOutcome.success(HTTPResponse(status: status, headers: [:], body: Array(body.utf8)))
    let steps: [Delivery.Step] = [
      .create(0), .locate(0, Self.front), .append(0, Self.front, offset: 0), .submit(Self.ids),
    ]
    for step in steps {
      var delivery = try Self.created()
      let failure = #expect(throws: CommandFailure.self) { try delivery.receive(refusal, of: step) }
      #expect(failure?.status == exit && failure?.message == "D.", "\(step)")
      // The service names a header field, which is not what a user of the command line sets.
      let remedy = failure?.remedy ?? ""
      #expect(status == 401 ? remedy.contains("--api-key-file") : remedy == "Do that.", "\(step)")
    }
  }

  @Test("a server that creates no upload is not the service")
  func foreign() {
    for outcome in [Self.response(200), Self.response(201, ["location": "/somewhere/else"])] {
      var delivery = Delivery(lengths: [10])
      let failure = #expect(throws: CommandFailure.self) { try delivery.receive(outcome, of: .create(0)) }
      #expect(failure?.status == .unavailable && failure?.remedy?.contains("--server") == true)
    }
  }
}
