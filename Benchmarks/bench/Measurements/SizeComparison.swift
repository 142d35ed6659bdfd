internal import Platform

/// How many bytes a composed video has against another.
struct SizeComparison: Measurement {
  let figure: Figure
  private let ours: any Contestant
  private let peer: any Contestant

  init(_ figure: Figure, of ours: any Contestant, to peer: any Contestant) {
    self.figure = figure
    self.ours = ours
    self.peer = peer
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let our = try Self.bytes(of: workbench.workplace(of: ours))
    let their = try Self.bytes(of: workbench.workplace(of: peer))
    return Finding(
      figure, [our / their],
      details: [
        Finding.Detail("\(ours.title), kB", [our / 1000], decimals: 0),
        Finding.Detail("\(peer.title), kB", [their / 1000], decimals: 0),
      ])
  }

  private static func bytes(of workplace: Workplace) throws -> Double {
    Double(try Descriptor(reading: workplace.composed()).size())
  }
}
