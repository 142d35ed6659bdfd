// throwaway preview: frames as raw yuv on a file
import Glibc
internal import Kernels
internal import SyntheticMedia

let scene = CommandLine.arguments[1]
let out = fopen(CommandLine.arguments[2], "w")!
let (w, h) = (Int(CommandLine.arguments[3])!, Int(CommandLine.arguments[3])! * 16 / 9)
let renderer = PictureRenderer(width: w, height: h, grain: 1.2)
for text in CommandLine.arguments.dropFirst(4) {
  let frame = Int(text)!
  let buffer = PictureBuffer(width: w, height: h)
  switch scene {
  case "dusk": await renderer.render(DuskScene().shot(at: Float(frame) / 30), frame: frame, into: buffer)
  case "portrait": await renderer.render(PortraitScene().shot(at: Float(frame) / 30), frame: frame, into: buffer)
  default: break
  }
  let picture = buffer.picture
  for plane in [picture.y, picture.u, picture.v] {
    for row in 0..<plane.height { fwrite(plane.base + row * plane.stride, 1, plane.width, out) }
  }
}
fclose(out)
