import Glibc

extension IPAddress {
  /// The first IPv4 address of an interface other than loopback, by which others reach this machine (getifaddrs(3)); nil without one.
  package static var ofThisMachine: IPAddress? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var entry = list
    while let interface = entry?.pointee {
      entry = interface.ifa_next
      guard let address = interface.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else { continue }
      let bytes = UnsafeRawBufferPointer(start: address, count: MemoryLayout<sockaddr_in>.size)
      if let found = IPAddress(socketAddress: bytes), !found.isLoopback { return found }
    }
    return nil
  }
}
