import Glibc
import Platform
import Testing

@Suite("Child processes")
struct ChildProcessTests {
  @Test("a child inherits only the configured descriptors")
  func descriptors() throws {
    // A descriptor that must not be inherited.
    let other = try Descriptor(unnamedIn: "/tmp")
    let output = try Descriptor(unnamedIn: "/tmp")
    var configuration = ChildProcess.Configuration(path: "/bin/ls", arguments: ["/proc/self/fd"])
    configuration.descriptors = [nil, output.number, nil]
    let ending = try ChildProcess(configuration).wait()
    #expect(ending == .exited(0))
    // The fourth is the directory that ls itself has open.
    #expect(String(decoding: try output.contents(), as: UTF8.self) == "0\n1\n2\n3\n")
    #expect(other.number > 2)
  }

  @Test("a missing program throws the error of exec")
  func missingProgram() {
    #expect(throws: SystemError(call: "exec", code: ENOENT, subject: "/nowhere/program")) {
      _ = try ChildProcess(.init(path: "/nowhere/program", arguments: []))
    }
  }

  @Test("exit statuses and signals are distinguished")
  func endings() throws {
    #expect(try ChildProcess(.init(path: "/bin/sh", arguments: ["-c", "exit 7"])).wait() == .exited(7))
    #expect(
      try ChildProcess(.init(path: "/bin/sh", arguments: ["-c", "kill -9 $$"])).wait() == .killed(signal: SIGKILL))
  }

  @Test("a child whose owner does not wait is killed and reaped")
  func dropped() throws {
    let id: Int32
    do {
      let child = try ChildProcess(.init(path: "/bin/cat", arguments: ["/dev/zero"]))
      id = child.id
    }
    #expect(kill(id, 0) == -1)
    #expect(errno == ESRCH)
  }
}
