/// Runs two in turns, so that a slower minute hits both, and divides pair by pair.
struct PairedComparison: Measurement {
  let figure: Figure
  private let quantity: Quantity
  private let ours: any Contestant
  private let peer: any Contestant

  init(_ figure: Figure, of quantity: Quantity, _ ours: any Contestant, to peer: any Contestant) {
    self.figure = figure
    self.quantity = quantity
    self.ours = ours
    self.peer = peer
  }

  func measure(on workbench: Workbench) throws -> Finding {
    let (our, their) = (try workbench.workplace(of: ours), try workbench.workplace(of: peer))
    var pairs: [(our: Double, their: Double)] = []
    for index in 0..<workbench.pairs {
      Console.progress("\(figure.name): pair \(index + 1) of \(workbench.pairs)")
      // Whoever comes second may profit from the first.
      if index % 2 == 0 {
        let first = try quantity.measure(our)
        pairs.append((first, try quantity.measure(their)))
      } else {
        let first = try quantity.measure(their)
        pairs.append((try quantity.measure(our), first))
      }
    }
    return Finding(
      figure, pairs.map { $0.our / $0.their },
      details: [
        Finding.Detail("\(ours.title), \(quantity.unit)", pairs.map(\.our), decimals: 2),
        Finding.Detail("\(peer.title), \(quantity.unit)", pairs.map(\.their), decimals: 2),
      ])
  }
}
