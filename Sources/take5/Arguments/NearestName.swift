/// The name that a misspelt one stands for, as a hint: keys of the configuration file, variables, options, commands.
enum NearestName {
  /// The option or key of this program for what other programs call so, such as `--port`; otherwise the nearest one.
  ///
  /// Not for variables: Kubernetes sets `TAKE5_PORT` for a service of this name.
  static func ofOption(_ name: String, among names: [String]) -> String? {
    let usual = ["port": "listen", "host": "listen", "bind": "listen", "address": "listen"]
    func word(_ name: String) -> String { String(name.drop { $0 == "-" }) }
    if let meant = usual[word(name)], let found = names.first(where: { word($0) == meant }) { return found }
    return of(name, among: names)
  }

  /// The nearest of the names, the first of several; nil if none is near: one change for each three letters, at most
  /// three.
  static func of(_ name: String, among names: some Sequence<String>) -> String? {
    var nearest: (name: String, distance: Int)?
    for candidate in names {
      let distance = distance(Array(name.utf8), Array(candidate.utf8))
      let isNear = distance <= min(3, max(1, candidate.utf8.count / 3))
      if isNear, distance < nearest?.distance ?? .max { nearest = (candidate, distance) }
    }
    return nearest?.name
  }

  /// The number of letters that are inserted, removed, replaced or exchanged with their neighbour (optimal string
  /// alignment).
  static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for row in first.indices {
      var current = [row + 1]
      for column in second.indices {
        let isSame = first[row] == second[column]
        var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          least = min(least, beforeLast[column - 1] + 1)
        }
        current.append(least)
      }
      (beforeLast, last) = (last, current)
    }
    return last[second.count]
  }
}
