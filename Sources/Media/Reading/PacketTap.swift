import AV

/// Somebody who wants an input's packets as they are read, in the order of the file.
protocol PacketTap: AnyObject {
  /// - Parameter packet: in the time base of its stream; a tap that keeps it takes a reference.
  func take(_ packet: borrowing Packet) throws(Stop)
}
