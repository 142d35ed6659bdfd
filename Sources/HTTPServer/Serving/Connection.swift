/// What the network thread keeps about one connection; only the thread that serves the connection touches it.
final class Connection {
  /// Its number in the registry, never used again.
  let number: Int
  /// The raw target of the request that is coming in.
  var target = ""

  init(number: Int) { self.number = number }
}
