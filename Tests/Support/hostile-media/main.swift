import Glibc
import MediaProcess
import Model
import Platform
import Sandbox

// A media process whose children attack instead of doing their job. The first input of a request has the attack's name as
// its first line; what a child can still say, it says as a failure.
ThisProcess.openMissingStandardDescriptors()
do {
  try ForkServer.serve { _ in
    ProgramFacts(version: ThisProcess.version, libraries: ["hostile": "1"])
  } job: { socket in
    guard let message = try? socket.receive(), let media = message.descriptors.first else { return }
    let attack = Attack(
      socket: socket, media: OpenFile(Descriptor(owning: media)), outputs: Array(message.descriptors.dropFirst()))
    attack.perform(attack.name())
  }
} catch {
  let line = "hostile-media: \(error)\n"
  _ = write(2, line, line.utf8.count)
  exit(1)
}
