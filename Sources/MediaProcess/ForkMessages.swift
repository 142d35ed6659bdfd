package import Platform

/// A request to the fork server, the process that runs `take5-media`.
package enum ServerRequest: Codable, Sendable, Hashable {
  /// Loads the libraries and builds the walls; the first request.
  case start(ServerSettings)
  /// Forks a child for one job. The descriptor that comes with it is the child's end of the job's socket.
  case fork(MediaCrash.Limits)
}

/// A reply of the fork server, which reads no media.
package enum ServerReply: Codable, Sendable, Hashable {
  /// The walls around its children, as a first child found them, and the facts of the program and its libraries.
  case ready(walls: [WallReport], program: ProgramFacts)
  /// The id of the child. A descriptor of the process comes with it (pidfd_open(2)).
  case forked(process: Int32)
  /// The child has ended, and its descriptors are closed.
  case ended(ChildEnd)
  /// The child could not be forked.
  case failed(String)
}

/// The program of a fork server, and the libraries that it has loaded.
package struct ProgramFacts: Codable, Sendable, Hashable {
  /// The version of the program.
  package let version: String
  /// The versions of the libraries, by library.
  package let libraries: [String: String]
  /// The decoders and encoders that the libraries lack.
  package let missingCodecs: [String]

  package init(version: String, libraries: [String: String] = [:], missingCodecs: [String] = []) {
    self.version = version
    self.libraries = libraries
    self.missingCodecs = missingCodecs
  }
}

/// The settings of a fork server.
package struct ServerSettings: Codable, Sendable, Hashable {
  /// The libraries that it loads.
  package var libraries: LibraryGroup
  /// Whether SIMD code is disabled, to compare the outputs.
  package var isPortable: Bool
  /// Whether it builds the walls.
  package var isConfined: Bool
  /// The id of the user that it becomes if it is root.
  package var user: UInt32

  package init(libraries: LibraryGroup, isPortable: Bool, isConfined: Bool, user: UInt32) {
    self.libraries = libraries
    self.isPortable = isPortable
    self.isConfined = isConfined
    self.user = user
  }
}

/// The media libraries that a job needs; each group contains those before it. Loading all of them costs 25 ms and 28 MB,
/// which a command for a JPEG does not need.
package enum LibraryGroup: Int, Codable, Sendable, Comparable {
  /// What `take5-media` is linked with: JPEG, PNG and WebP.
  case linked
  /// And libheif.
  case heif
  /// And FFmpeg's libraries.
  case clips

  package static func < (one: LibraryGroup, other: LibraryGroup) -> Bool { one.rawValue < other.rawValue }
}

/// The end of a child, as the fork server sees it.
package struct ChildEnd: Codable, Sendable, Hashable {
  /// The wait status (wait(2)).
  package let status: Int32
  /// The CPU time of all of its threads, in seconds.
  package let cpuSeconds: Double

  package init(status: Int32, cpuSeconds: Double) {
    self.status = status
    self.cpuSeconds = cpuSeconds
  }

  /// The exit status of a child that could not build one of its walls: it has read nothing.
  package static let unconfined: Int32 = 71

  package var ending: ChildProcess.Ending { ChildProcess.Ending(status: status) }
}
