import Glibc
import Media
import MediaProcess
import Platform
import Sandbox
import Stills

// The program in which media are decoded and encoded, for a parent process that passes them as descriptors: a server that
// forks a child for each job. It knows neither the database nor the network.
ThisProcess.ignoreBrokenPipes()
ThisProcess.openMissingStandardDescriptors()
do {
  ThisProcess.setName("take5-media")
  try ForkServer.serve { settings in
    if settings.libraries >= .heif { HEIFLibrary.load() }
    guard settings.libraries == .clips else { return ProgramFacts(version: ThisProcess.version) }
    MediaLibraries.configure(isPortable: settings.isPortable)
    return ProgramFacts(
      version: ThisProcess.version, libraries: MediaLibraries.versions,
      missingCodecs: MediaLibraries.missingCodecs + HEIFLibrary.missingCodecs)
  } job: { socket in
    MediaJob.perform(for: socket)
  }
} catch {
  let line = "take5-media: \(error)\n"
  _ = write(2, line, line.utf8.count)
  exit(1)
}
