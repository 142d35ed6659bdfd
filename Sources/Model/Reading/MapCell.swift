/// A quarter of a degree by a quarter of a degree of the map: what posts are found by where they are.
///
/// A cell's posts lie in an index by their times, so that an area and a time together touch few of them. The number is
/// computed alike by the database, in the column `map_cell`.
package enum MapCell {
  /// The cells in a degree.
  package static let perDegree = 4.0
  /// The cells from pole to pole, both included.
  package static let rows = 721

  /// The number of the cell of a point.
  package static func number(longitude: Double, latitude: Double) -> Int {
    column(longitude) * rows + row(latitude)
  }

  fileprivate static func column(_ longitude: Double) -> Int { Int(((longitude + 180) * perDegree).rounded(.down)) }
  fileprivate static func row(_ latitude: Double) -> Int { Int(((latitude + 90) * perDegree).rounded(.down)) }
}

extension MapArea.Piece {
  /// The numbers of the cells that it may touch; nil where they are more than `most`.
  package func cells(most: Int) -> [Int]? {
    let longitudes = ring.map { min(180, max(-180, $0.longitude)) }
    let latitudes = ring.map(\.latitude)
    guard let west = longitudes.min(), let east = longitudes.max(), let south = latitudes.min(),
      let north = latitudes.max()
    else { return [] }
    let columns = MapCell.column(west)...MapCell.column(east)
    let rows = MapCell.row(south)...MapCell.row(north)
    guard columns.count * rows.count <= most else { return nil }
    return columns.flatMap { column in rows.map { column * MapCell.rows + $0 } }
  }
}
