import FoundationEssentials
import Model
import Queue

/// A job in the output of `take5 jobs`.
struct JobReport: Encodable {
  let number: Int64
  let id: PublicID
  let queue: String
  let kind: String
  let state: JobState
  let priority: Int?
  let attempt: Int
  let maxAttempts: Int
  let lost: Int
  let progress: Double
  let stage: String?
  let author: String?
  let request: String?
  let createdAt: Date
  let runAt: Date?
  let startedAt: Date?
  let deadlineAt: Date?
  let finishedAt: Date?
  let isCancelling: Bool
  /// The name of the limit of the job.
  let limit: String?
  /// Whether the job is throttled by its limit; JSON has the key `is_parked`.
  let isParked: Bool
  let worker: Int64?
  let workerProcess: String?
  let error: String?
  /// The JSON text of the arguments.
  let arguments: String
  let verdict: Verdict?

  init(_ job: JobRecord) {
    number = job.id
    id = job.publicID
    queue = job.queue
    kind = job.kind
    state = job.state
    priority = job.priority
    attempt = job.attempt
    maxAttempts = job.maxAttempts
    lost = job.lost
    progress = job.progress.fraction
    stage = job.progress.stage.isEmpty ? nil : job.progress.stage
    author = job.author
    request = job.request
    createdAt = job.createdAt
    runAt = job.runAt
    startedAt = job.startedAt
    deadlineAt = job.deadlineAt
    finishedAt = job.finishedAt
    isCancelling = job.isCancelling
    limit = job.limit
    isParked = job.isThrottled
    worker = job.worker
    workerProcess = job.workerProcess
    error = job.error
    arguments = String(decoding: job.arguments, as: UTF8.self)
    verdict = job.result.flatMap { try? JSON.decode(Verdict.self, from: $0) }
  }

  /// A table of jobs.
  static func lines(_ jobs: [JobReport]) -> [String] {
    var table = TextTable("JOB", "CREATED", "QUEUE", "KIND", "STATE", "ATTEMPT", "AUTHOR", "NOTE")
    for job in jobs {
      table.add(
        job.id.description, JSON.text(of: job.createdAt), job.queue, job.kind, job.state.rawValue,
        "\(job.attempt)/\(job.maxAttempts)", job.author, job.note)
    }
    return table.lines
  }

  /// The job as one line of text.
  var line: String {
    var line = "\(id)  \(kind)  \(state.rawValue)  attempt \(attempt)/\(maxAttempts)"
    if let author { line += "  \(author)" }
    return note.isEmpty ? line : line + "  \(note)"
  }

  /// The most important information about the present state, in one line.
  private var note: String {
    if isCancelling { return "being cancelled" }
    if isParked { return "throttled by \(limit ?? "its limit")" }
    switch state {
    case .executing: return stage.map { "\(Int(progress * 100)) % \($0)" } ?? ""
    case .completed: return verdict?.verdict.rawValue ?? ""
    case .scheduled, .available, .cancelled, .dead:
      let first = error?.split(separator: "\n").first.map(String.init) ?? ""
      return first.count > 60 ? first.prefix(59) + "…" : first
    }
  }

  /// All fields as text.
  var text: String {
    var lines = ["job \(id), number \(number)"]
    func add(_ title: String, _ value: String?) {
      guard let value else { return }
      lines.append("  \(title)\(String(repeating: " ", count: max(1, 12 - title.count)))\(value)")
    }
    add(
      "state",
      state.rawValue + (isCancelling ? ", being cancelled" : isParked ? ", throttled by its limit" : ""))
    add("queue", queue + ", kind \(kind)" + (priority.map { ", priority \($0)" } ?? ""))
    add(
      "attempts",
      "\(attempt) of \(maxAttempts)" + (lost > 0 ? ", lost by its worker \(CountText.text(lost, "time"))" : ""))
    if state == .executing { add("progress", "\(Int(progress * 100)) %  \(stage ?? "")") }
    add("author", author)
    add("request", request)
    add("limit", limit)
    add("worker", worker.map { "\($0)" + (workerProcess.map { ", \($0)" } ?? "") })
    add("created", JSON.text(of: createdAt))
    if state == .scheduled || state == .available { add("run at", runAt.map(JSON.text(of:))) }
    add("started", startedAt.map(JSON.text(of:)))
    add("deadline", deadlineAt.map(JSON.text(of:)))
    add(state == .dead ? "died" : "finished", finishedAt.map(JSON.text(of:)))
    add("last error", error)
    add("arguments", arguments)
    if let verdict { lines.append(VerdictText.text(of: verdict, explains: true)) }
    return lines.joined(separator: "\n")
  }
}
