import AV
import ISOBaseMedia

/// Tells the leading frames of a clip that was cut at an open GOP: they lean on frames before the cut.
///
/// The decoder of HEVC leaves them out by itself (ITU-T H.265, RASL pictures); that of H.264 takes them for damage.
struct OpenStart {
  private enum State {
    case unread(AVCConfiguration?)
    /// The time of the first packet; what is shown before it leans on what is not there.
    case open(Int64)
    case closed
  }

  private var state: State

  init(_ stream: StreamInfo) {
    state = stream.codec == "h264" ? .unread(AVCConfiguration(stream.configuration)) : .closed
  }

  /// Whether a packet of the stream is a leading frame; packets come in the order of decoding.
  mutating func isLeading(_ packet: borrowing Packet) -> Bool {
    switch state {
    case .closed: return false
    case .open(let first): return packet.pts.map { $0 < first } ?? false
    case .unread(let configuration):
      let isOpen = configuration.map { !AVCSample(packet, $0).isRefresh } ?? false
      state = if isOpen, let pts = packet.pts { .open(pts) } else { .closed }
      return false
    }
  }
}
