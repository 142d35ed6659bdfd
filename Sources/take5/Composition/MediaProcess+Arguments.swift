import MediaProcess

extension MediaProcess.Configuration {
  /// As the command line asks for it.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self.init()
    if let megabytes = try arguments.number(Option.mediaMemory.name, in: 64...65536) {
      memoryLimit = UInt64(megabytes) << 20
    }
    isPortable = arguments.has(Option.portable.name)
  }
}
