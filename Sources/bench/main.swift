internal import AV
import Glibc
internal import Platform

/// Says something that is no result.
func note(_ text: String) { _ = write(STDERR_FILENO, text, text.utf8.count) }

/// Shows on a terminal what is being done.
func progress(_ text: String) {
  if isatty(STDERR_FILENO) == 1 { note("\r\u{1B}[K\(text)") }
}

do {
  let options = try Options(Array(CommandLine.arguments.dropFirst()))
  if options.asksForHelp {
    print(Options.help)
    exit(0)
  }
  // The clips are made here, so nothing hostile can ask for more.
  Library.configure(largestAllocation: 1 << 28)
  try Folder.make(options.folder)
  let footage = try await PhoneFootage(folder: options.folder, progress: progress)
  let program = try options.take5 ?? Command.beside("take5")
  let benchmark = try CompositionBenchmark(program: program, footage: footage, folder: options.folder)
  let pairs = try benchmark.run(pairs: options.pairs, progress: progress)
  progress("")
  print(Report(pairs: pairs).text)
} catch let error as BenchError {
  note("bench: \(error)\n")
  exit(64)
} catch {
  note("bench: \(error)\n")
  exit(74)
}
