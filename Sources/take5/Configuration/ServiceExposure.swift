import Platform

/// Who can reach a service: its address, and the proxies that it trusts.
struct ServiceExposure: Sendable {
  let address: ListenAddress
  let proxies: [AddressRange]

  /// Reads `--listen` and `--trusted-proxy`.
  init(_ arguments: Arguments) throws(CommandFailure) {
    address = try ListenAddress(parsing: arguments.value("--listen") ?? "")
    var proxies: [AddressRange] = []
    for text in (arguments.value("--trusted-proxy") ?? "").split(separator: ",") {
      guard let range = AddressRange(String(text)) else {
        throw CommandFailure(
          .usage, "'\(text)' is not the address of a proxy", remedy: "write it as 192.0.2.1 or 10.0.0.0/8")
      }
      proxies.append(range)
    }
    self.proxies = proxies
  }

  /// Whether only this machine reaches the service. With a trusted proxy, other machines reach one on loopback.
  var isLocal: Bool { address.isLoopback && proxies.isEmpty }

  /// Whether every address of a version belongs to a trusted proxy: a range with the first and the last one has all.
  var trustsEveryone: Bool {
    let ends = [("0.0.0.0", "255.255.255.255"), ("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")]
    return proxies.contains { range in
      ends.contains { first, last in [first, last].compactMap { IPAddress($0) }.allSatisfy(range.contains) }
    }
  }

  /// Whether a trusted proxy is on this machine.
  var trustsThisMachine: Bool {
    proxies.contains { range in ["127.0.0.1", "::1"].compactMap { IPAddress($0) }.contains(where: range.contains) }
  }

  /// Status 64 if other machines could use the service without an API key.
  func check(hasKey: Bool) throws(CommandFailure) {
    guard !hasKey, !isLocal else { return }
    let reason =
      address.isLoopback
      ? "--trusted-proxy is set, so other machines reach the service through the proxy"
      : "other machines can reach \(address.host)"
    throw CommandFailure(
      .usage, "\(reason), and the service has no API key",
      remedy:
        "listen on 127.0.0.1 without a proxy, or set an API key with "
        + "'take5 keys create', TAKE5_API_KEY or --api-key-file; keys are in the database: another one has others"
    )
  }
}
