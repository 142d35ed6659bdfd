import Glibc
import Platform
import PostgresTesting
import Testing

@testable import ChaosTesting

@Suite(.timeLimit(.minutes(2)))
struct ChaosProcessTests {
  private func start(_ script: String, _ folder: TemporaryFolder) throws -> ChaosProcess {
    try ChaosProcess("shell", path: "/bin/sh", arguments: ["-c", script], log: "\(folder.path)/log")
  }

  @Test("stopping is noticed each time, and then the end")
  func stops() async throws {
    let folder = try TemporaryFolder()
    let process = try start("kill -STOP $$; kill -STOP $$; exit 7", folder)
    for times in 1...2 {
      #expect(await process.isStopped(times: times, within: .seconds(60)))
      #expect(process.ending == nil)
      process.kill(SIGCONT)
    }
    #expect(await process.end(within: .seconds(60)) == .exited(7))
    #expect(await process.isStopped(times: 3, within: .seconds(60)) == false)
  }

  @Test func tellsOfASignal() async throws {
    let folder = try TemporaryFolder()
    let process = try start("kill -STOP $$", folder)
    #expect(await process.isStopped(within: .seconds(60)))
    process.kill(SIGKILL)
    #expect(await process.end(within: .seconds(60)) == .killed(signal: SIGKILL))
  }

  @Test func isLeftRunningWhenPatienceEnds() async throws {
    let folder = try TemporaryFolder()
    let process = try start("kill -STOP $$", folder)
    #expect(await process.end(within: .milliseconds(1)) == nil)
    #expect(await process.isStopped(times: 2, within: .milliseconds(1)) == false)
  }
}
