// Where a coordinate is, in words.

import { cities } from "./basemap.js"

/** The distance of two coordinates, in kilometers. */
function distance(a, b) {
  const radians = Math.PI / 180
  const part = Math.sin((b.latitude - a.latitude) * radians / 2) ** 2
    + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * Math.sin((b.longitude - a.longitude) * radians / 2) ** 2
  return 12742 * Math.asin(Math.sqrt(Math.min(1, part)))
}

/** Degrees with the half of the globe: 52.52° N, 13.40° E. */
const degrees = ({ longitude, latitude }) =>
  `${Math.abs(latitude).toFixed(2)}° ${latitude < 0 ? "S" : "N"}, ${Math.abs(longitude).toFixed(2)}° ${longitude < 0 ? "W" : "E"}`

/** Where a coordinate is, in words: the city, or the one that it is near, or degrees. */
export function region(coordinate) {
  let [best, kilometers] = [null, Infinity]
  for (const [name, longitude, latitude] of cities) {
    const each = distance(coordinate, { longitude, latitude })
    if (each < kilometers) [best, kilometers] = [name, each]
  }
  return kilometers < 25 ? best : kilometers < 300 ? `near ${best}` : degrees(coordinate)
}
