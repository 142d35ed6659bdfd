import CAttacks
import Glibc
import MediaProcess
import Model
import Platform

/// What a hostile child does.
struct Attack: ~Copyable {
  let socket: MessageSocket
  /// The media that name the attack.
  let media: OpenFile
  /// The descriptors behind it: the outputs of a request with one input.
  let outputs: [Int32]

  init(socket: consuming MessageSocket, media: OpenFile, outputs: [Int32]) {
    self.socket = socket
    self.media = media
    self.outputs = outputs
  }

  /// The first line of the media.
  borrowing func name() -> String {
    let start = (try? media.descriptor.bytes(count: 32, at: 0)) ?? []
    return String(decoding: start.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// Performs an attack, by its name; a forbidden system call by the name of its manual page.
  borrowing func perform(_ name: String) {
    switch name {
    case "segfault": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
    case "abort": abort()
    case "trap": fatalError("hostile")
    case "exit": _exit(3)
    // Ends: by the media process that is attacked.
    case "loop": while true { _ = getpid() }
    // Ends: by the media process that is attacked.
    case "sleep": while true { _ = poll(nil, 0, -1) }
    case "memory": say(allocate())
    case "file": fillFile()
    case "silence": return
    case "late":
      reply(PhotoReport())
      // Ends: by the media process that is attacked.
      while true { _ = pwrite(outputs[0], "x", 1, 0) }
    case "thousand": for _ in 0..<1000 { reply(PhotoReport()) }
    case "100mb":
      let status = (try? socket.send([UInt8](repeating: 0x20, count: 100 << 20))) == nil ? "refused" : "sent"
      say(status)
    case "empty":
      cattacks_send_nothing(socket.number)
      // Ends: by the media process that is attacked.
      while true { _ = poll(nil, 0, 1000) }
    case "malformed": try? socket.send(Array("{]".utf8))
    case "probed": try? socket.send(Envelope<MediaReply>.encode(.probed(ProbeReport())))
    case "progress": for _ in 0..<1000 { try? socket.send(Envelope<MediaReply>.encode(.progress(1e30))) }
    case "replay": replay()
    case "claim": try? socket.send(Envelope<MediaReply>.encode(.failure(MediaFailure(.crashed, "not mine"))))
    case "outage": try? socket.send(Envelope<MediaReply>.encode(.failure(MediaFailure(.outOfSpace, "not mine"))))
    case "role":
      var report = PhotoReport()
      report.outputs = [OutputFacts(role: .composed, type: "image/jpeg", bytes: 1, width: 1, height: 1)]
      reply(report)
    default: say("\(name) returned \(cattacks_make(name))")
    }
  }

  /// Sends the facts that stand in the media, as JSON behind the first line, receives the outputs of a run, writes them and
  /// sends the messages.
  private borrowing func replay() {
    guard let text = try? media.descriptor.contents().drop(while: { $0 != UInt8(ascii: "\n") }),
      let script = try? JSON.decode([String: [[UInt8]]].self, from: Array(text))
    else { return say("the script cannot be read") }
    for facts in script["facts"] ?? [] { try? socket.send(facts) }
    let outputs = (try? socket.receive())?.descriptors ?? []
    for (output, content) in zip(outputs, script["outputs"] ?? []) { _ = pwrite(output, content, content.count, 0) }
    for message in script["messages"] ?? [] { try? socket.send(message) }
  }

  private borrowing func say(_ text: String) {
    try? socket.send(Envelope<MediaReply>.encode(.failure(MediaFailure(.internal, text))))
  }

  private borrowing func reply(_ report: PhotoReport) {
    try? socket.send(Envelope<MediaReply>.encode(.photo(report)))
  }

  private borrowing func allocate() -> String {
    var count = 0
    let size = 16 << 20
    var last: UnsafeMutableRawPointer?
    while let memory = malloc(size) {
      memset(memory, 1, size)
      count += size
      last = memory
    }
    // For the reply.
    free(last)
    return "\(count >> 20) MiB"
  }

  private borrowing func fillFile() {
    let part = [UInt8](repeating: 1, count: 1 << 20)
    for number in 0..<100_000 {
      guard pwrite(outputs[0], part, part.count, off_t(number << 20)) == part.count else {
        return say("stopped at \(number) MiB")
      }
    }
  }
}
