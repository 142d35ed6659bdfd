/// Lays two pictures on a canvas as a definition asks; all numbers come out even, since chroma has half the samples.
struct CompositionLayout {
  let canvas: Definition.Canvas
  let composed: Definition.Composed

  /// The tiles from the lowest to the uppermost.
  ///
  /// - Parameters:
  ///   - background, foreground: the inputs, each with its size as displayed.
  func tiles(
    background: (input: InputName, display: Size), foreground: (input: InputName, display: Size)
  ) -> [Tile] {
    switch composed.layout {
    case .inset:
      let whole = Rectangle(x: 0, y: 0, width: canvas.width, height: canvas.height)
      return [tile(background, in: whole), inset(foreground)]
    case .sideBySide:
      let half = canvas.width / 4 * 2
      return [
        tile(foreground, in: Rectangle(x: 0, y: 0, width: half, height: canvas.height)),
        tile(background, in: Rectangle(x: half, y: 0, width: canvas.width - half, height: canvas.height)),
      ]
    case .stacked:
      let half = canvas.height / 4 * 2
      return [
        tile(foreground, in: Rectangle(x: 0, y: 0, width: canvas.width, height: half)),
        tile(background, in: Rectangle(x: 0, y: half, width: canvas.width, height: canvas.height - half)),
      ]
    }
  }

  private func tile(_ picture: (input: InputName, display: Size), in cell: Rectangle) -> Tile {
    guard canvas.fit == .fit else { return Tile(input: picture.input, rectangle: cell) }
    let size = Self.fitted(picture.display, into: Size(width: cell.width, height: cell.height))
    return Tile(
      input: picture.input,
      rectangle: Rectangle(
        x: cell.x + (cell.width - size.width) / 4 * 2, y: cell.y + (cell.height - size.height) / 4 * 2,
        width: size.width, height: size.height))
  }

  private func inset(_ picture: (input: InputName, display: Size)) -> Tile {
    let inset = composed.inset
    let width = Size.even(Double(canvas.width) * inset.width)
    let height = Size.even(Double(width) * Double(canvas.height) / Double(canvas.width))
    let box = Size(width: width, height: height)
    let size = canvas.fit == .fit ? Self.fitted(picture.display, into: box) : box
    let margin = inset.margin / 2 * 2
    let right = canvas.width - size.width - margin
    let bottom = canvas.height - size.height - margin
    let atLeft = inset.corner == .topLeft || inset.corner == .bottomLeft
    let atTop = inset.corner == .topLeft || inset.corner == .topRight
    return Tile(
      input: picture.input,
      rectangle: Rectangle(
        x: atLeft ? margin : right, y: atTop ? margin : bottom, width: size.width, height: size.height),
      radius: inset.radius, border: inset.border)
  }

  /// The largest size of a picture's shape in a box.
  private static func fitted(_ picture: Size, into box: Size) -> Size {
    let scale = min(Double(box.width) / Double(picture.width), Double(box.height) / Double(picture.height))
    return Size(
      width: min(box.width, Size.even(Double(picture.width) * scale)),
      height: min(box.height, Size.even(Double(picture.height) * scale)))
  }
}
