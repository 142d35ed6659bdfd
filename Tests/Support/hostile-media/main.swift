import Glibc
import MediaProcess
import Model
import Platform
import Sandbox

// A media process whose children attack instead of doing their job. The photo of a request has the attack's name as
// content; what a child can still say, it says as a failure.
ThisProcess.openMissingStandardDescriptors()
do {
  try ForkServer.serve { _ in
    ["hostile": "1"]
  } job: { socket in
    let message = try? socket.receive()
    let photo = message?.descriptors.first ?? -1
    var text = [UInt8](repeating: 0, count: 32)
    let count = max(0, pread(photo, &text, text.count, 0))
    let attack = Attack(socket: socket, outputs: Array(message?.descriptors.dropFirst() ?? []))
    attack.perform(String(decoding: text.prefix(count), as: UTF8.self))
  }
} catch {
  let line = "hostile-media: \(error)\n"
  _ = write(2, line, line.utf8.count)
  exit(1)
}
