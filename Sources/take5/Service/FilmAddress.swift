import Platform

/// The address of the page that films, for the camera of a phone.
enum FilmAddress {
  static let option = Option(
    "--film", help: "print the address of the filming page on the terminal, also if no other machine can reach it")

  /// Prints the address as a QR code, if a person sees it: on a terminal, of a service that phones reach or that is asked for it.
  static func show(_ address: ListenAddress, port: UInt16, _ arguments: Arguments) {
    guard Console.isErrorTerminal, arguments.has(option.name) || !address.isLoopback else { return }
    let url = url(of: address, port: port)
    Console.note("film on a phone: \(url)")
    for line in QRCode(url)?.lines ?? [] { Console.note(line) }
  }

  /// The URL of the page. For a service that listens on all addresses it has one by which others reach this machine.
  static func url(of address: ListenAddress, port: UInt16) -> String {
    var host = address.host
    if ["0.0.0.0", "::"].contains(host), let own = IPAddress.ofThisMachine { host = "\(own)" }
    return ListenAddress(host: host, port: port).url(port: port) + "/film"
  }
}
