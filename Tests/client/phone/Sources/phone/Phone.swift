import Foundation
import Take5Client

/// A phone's day, a command at a time: `phone COMMAND URL FOLDER ARGUMENT...`. It prints a line for each thing that a test waits for.
@main
struct Phone {
  let client: Take5Client
  let arguments: [String]

  static func main() async {
    let all = CommandLine.arguments
    guard all.count > 3, let url = URL(string: all[2]) else {
      return print("usage: phone COMMAND URL FOLDER ARGUMENT...")
    }
    let folder = URL(fileURLWithPath: all[3])
    let client = Take5Client(
      url: url, tokens: FileTokenStore(url: folder.appending(path: "session.json")),
      folder: folder.appending(path: "queue"))
    do {
      try await Phone(client: client, arguments: Array(all.dropFirst(4))).run(all[1])
    } catch let error as Take5Error {
      print("error \(error.code?.rawValue ?? "client") | \(error.message) | \(error.remedy)")
    } catch {
      print("error other | \(error)")
    }
    print("memory \(peakMemory())")
  }

  func run(_ command: String) async throws {
    switch command {
    case "register": try await register()
    case "sign-in": print("user \(try await client.signIn(name: arguments[0], password: arguments[1]).user)")
    case "film": try await film()
    case "queue": try await queue()
    case "resume": await resume()
    case "pending": await pending()
    case "show": try await show()
    case "like": try await like()
    case "collect": try await collect()
    case "filter": try await filter()
    case "react": try await react()
    case "events": try await events()
    case "window": try await window()
    case "together": try await together()
    case "cancel": try await cancel()
    case "retry": try await retry()
    case "sign-out": await signOut()
    default: print("unknown command")
    }
  }

  /// The most memory that the process had, in KiB (proc(5)).
  static func peakMemory() -> String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return String(line?.split(separator: " ").dropLast().last ?? "0")
  }
}

/// Prints a line at once: who reads it may end this process.
func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
