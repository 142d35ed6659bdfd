import Glibc
import Platform

// The functions that libFuzzer calls. `make fuzz` defines FUZZING and links libFuzzer, which has `main`. Other builds replay
// inputs without it: `take5-fuzz --target=NAME FILE…`.

/// The target that `--target=NAME` names; libFuzzer ignores options with two dashes.
private let selected: FuzzTarget = {
  let target = FuzzTarget.all.first { CommandLine.arguments.contains("--target=\($0.name)") }
  guard let target else {
    print("pass --target=NAME, with a name of --list")
    exit(64)
  }
  return target
}()

/// Runs before the first input; lists the targets with `--list`.
@_cdecl("LLVMFuzzerInitialize")
func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
  if CommandLine.arguments.contains("--list") {
    for target in FuzzTarget.all { print(target.name) }
    exit(0)
  }
  return 0
}

/// Runs one input.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  selected.run([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}

#if !FUZZING
  @main
  enum Replay {
    static func main() throws {
      _ = fuzzInitialize(nil, nil)
      for path in CommandLine.arguments.dropFirst() where !path.hasPrefix("--") {
        print(path)
        selected.run(try Descriptor(reading: path).contents())
      }
    }
  }
#endif
